"""Running text for the drawn pages, with the numbers, marks and names that documents have."""

# ruff: noqa: E501 - a paragraph is one line, as the drawing breaks it

CHINESE = """
采购与验收管理办法（试行）
第一条　为规范本公司物资采购、验收与付款流程，提高资金使用效率，防范经营风险，根据国家有关法律、法规，结合公司实际情况，制定本办法。
第二条　本办法适用于公司总部及所属各分支机构。单项金额在人民币50,000.00元以上的采购，应当采用公开招标方式；金额不足的，可以采用询价或者竞争性谈判方式。
第三条　采购申请应写明品名、规格型号、数量、技术要求、预算金额和到货日期，由部门负责人签字后报采购部。采购部应在3个工作日内答复；逾期未答复的，视为同意。
第四条　供应商须提供营业执照、税务登记证明以及近三年（2022—2024年）的审计报告。曾因产品质量问题受到行政处罚的，两年内不得参加投标。
第五条　货物运抵指定地点后，验收小组应当场清点数量、检查外观，并抽取不少于5%的样品送检。检验结果与合同约定不符的，应在七日内书面通知供应商更换或退货，由此产生的运输、仓储费用由供应商承担。
第六条　付款比例一般为：合同签订后支付30%，验收合格后支付60%，其余10%作为质量保证金，保修期（十二个月）届满且无质量纠纷后一次性付清。
第七条　“重大偏差”是指下列情形之一：（一）主要性能指标低于要求的95%；（二）交货期延误超过15日；（三）提供虚假的检测报告；（四）其他足以影响正常使用的缺陷。
第八条　各部门应妥善保管采购档案，包括申请单、比价记录、合同、发票、验收单等，保存期限不少于10年。查询请登录 https://purchase.example.cn/archive，或致电0571-8800 1234。
第九条　本办法由公司财务部负责解释，自2025年7月1日起施行。原《物资采购暂行规定》（2019年第8号）同时废止。
入冬以后，山里的雾气常常到中午才散。赶集的人背着竹篓，沿着溪边的石板路慢慢走，偶尔停下来歇一歇脚，顺便打听一句盐和布的价钱。
温度传感器的测量范围为-40℃～+125℃，精度±0.5℃，供电电压3.3V，平均功耗低于12μA；采用I²C接口，地址为0x48，最高速率400kHz。
"""

ENGLISH = """
Annual Report on Water Quality
The monitoring programme covered 214 stations on 37 rivers between 1 January and 31 December 2024. At each station,
samples were taken once a month and analysed for dissolved oxygen, nitrate, phosphate, and suspended solids. Results
that fell below the limit of detection were counted as one half of that limit.
In the northern district, the mean concentration of nitrate declined from 8.4 mg/l to 6.9 mg/l, a reduction of 17.9%
compared with the previous year. The largest improvement was observed downstream of the new treatment plant at
Ashworth ("Plant B"), which had been in operation since March. No comparable change was found elsewhere.
Two events deserve to be mentioned. On 14 May, heavy rainfall led to an overflow of the combined sewer in Kettleby;
within six hours the level of ammonia rose to 3.2 mg/l. On 2 September, a road accident released approximately 1,500
litres of diesel into the River Lune. The emergency services were informed at 05:45 a.m. and a floating barrier was in
place by 07:30 a.m. Clean-up costs amounted to $48,250.00 and were borne by the carrier's insurer.
The committee makes the following recommendations: (a) the sampling interval should be shortened to two weeks during
the summer; (b) owners of private wells should be offered a free test; (c) the data should be published, in a machine-
readable form, at https://water.example.org/data?year=2024 no later than 30 June.
It is sometimes argued that small streams need not be sampled at all, since whatever happens in them will be seen
further down. We do not share this view. A stream that carries only a few litres per second may be the sole habitat of
a species, and what is diluted is not therefore harmless. For questions, please write to office@water.example.org or
call +44 20 7946 0123 (Monday to Friday, 9-12 o'clock).
Acknowledgements. We thank J. R. O'Neill, M. Fischer, and the volunteers of the Friends of the Lune, without whose
patience, week after week and in all kinds of weather, this work could not have been done.
"""
