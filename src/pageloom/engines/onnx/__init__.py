"""The embedded CPU engine: PP-OCRv6 on ONNX Runtime."""
