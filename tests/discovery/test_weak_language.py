"""Refusals are heard in several languages; statements about systems that hold a "not" are left alone."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discovery.weak_language import ANSWER_LIMIT, own_words, weak_phrase

WEAK_ENGLISH = [
    "No relevant lessons were found.",
    "I couldn't find anything about Terraform in the documents.",
    "I could not find any information on this topic.",
    "The provided documents do not mention how to rotate the signing key.",
    "The provided context does not contain information about the refund window.",
    "The sources don't cover Windows installation.",
    "The documentation doesn't explicitly state a limit.",
    "Sorry, but I don't have enough information to answer that.",
    "I'm sorry, I cannot answer this question based on the available sources.",
    "Unfortunately, none of the lessons discuss Kafka consumer lag.",
    "There is no mention of GPU nodes in the knowledge base.",
    "There is no documentation on this integration.",
    "There are no runbooks for etcd restores.",
    "I don't know.",
    "I am not sure which port it uses.",
    "I do not have access to that information.",
    "Based on general best practices, you should pin the provider version.",
    "From my general knowledge, Terraform modules live in a `modules/` folder.",
    "As an AI language model, I don't have access to your internal wiki.",
    "This topic is not covered in the documentation.",
    "SSO setup isn't documented anywhere in the docs.",
    "The answer cannot be determined from the given passages.",
    "Nothing in the sources explains the retry policy.",
    "The knowledge base has nothing about on-call rotations.",
    "The passages only mention Linux but not macOS.",
    "No documentation was found for the billing API.",
    "No results found for “vault rotation”.",
    "The search returned no relevant documents.",
    "The documents are silent on data retention.",
    "There isn't enough information in the sources to say.",
    "Your question is outside the scope of the knowledge base.",
    "I was unable to find a runbook for that alert.",
    "The retrieved passages do not appear to cover this error code.",
    "It is unclear from the documentation whether backups are encrypted.",
    "The docs fail to mention the rate limit.",
    "Neither document mentions a deadline.",
    "The context lacks details on pricing.",
    "We couldn’t find anything in the docs about parental leave.",
    "I can't help with that, because it isn't in my documents.",
    "The lessons provided do not include any guidance about Helm rollbacks.",
    "Insufficient information to answer the question.",
    "**No matching articles** were found for your question.",
    "The documents [1][2] do not say who approves the change.",
    "This isn't covered in our docs, but generally you would restart the pod.",
    "If you need the VPN, I couldn't find anything in the docs.",
    "There doesn't seem to be any documentation about canary releases.",
    "The information you're looking for isn't in the provided documents.",
    "I looked through the docs but came up empty.",
    "I'm afraid I don't have any details regarding that.",
    "Unfortunately, the runbooks available to me don't go over this scenario.",
    "There were no results matching your query.",
    "I have no information regarding the office in Lisbon.",
    "The given excerpts do not contain the answer to your question.",
    "None of the retrieved lessons address Terraform.",
    "It's not possible to answer this from the context provided.",
    "The knowledge base doesn't seem to contain anything related to GPU quotas.",
    "Sorry, I couldn't locate any relevant documentation.",
    "My sources don't say anything on that.",
    "I was not able to find specific guidance on rotating keys.",
    "The documents provided don't give enough detail to answer.",
    "This question can't be answered with the available sources.",
    "No mention of a rate limit is made in the docs.",
    "Your documentation currently has no page on disaster recovery.",
    "I don't see anything about this in the sources.",
    "I cannot find information about this in the provided context.",
    "The context does not mention a deadline.",
    "The text does not specify the maximum size.",
    "The provided sources lack any information about pricing tiers.",
    "Not mentioned in the provided documents.",
    "Based on the provided context, I cannot determine the answer.",
    "There's nothing in our docs about that yet.",
    "I do not have specific information about your company's travel policy.",
    "Generally speaking, you would restart the pod, although the docs don't cover it.",
    "Answer not found in the documents.",
    "No information available.",
    "No answer found.",
    "The document does not discuss this.",
    "I'm not aware of any runbook for this.",
    "We don't have any documentation on that.",
    "It looks like this isn't documented.",
    "I can't find a doc that covers that.",
]

WEAK_CHINESE = [
    "没有找到相关文档。",
    "抱歉，我无法回答这个问题。",
    "文档中未提及退款期限。",
    "根据现有资料无法确定具体日期。",
    "无法确定。",
    "知识库中没有关于 Kubernetes 升级的内容。",
    "很遗憾，检索结果里没有相关信息。",
    "提供的上下文没有说明如何重置密码。",
    "我不知道。",
    "我没有找到任何关于报销流程的说明。",
    "目前没有足够的信息来回答该问题。",
    "资料不足，无法判断。",
    "未找到与您问题相关的内容。",
    "对不起，文档没有涵盖这个主题。",
    "这些文章并未涉及双因素认证。",
    "暂无相关资料。",
    "该问题超出了知识库的范围。",
    "作为一个人工智能助手，我不能访问内部系统。",
    "根据一般常识，建议先重启服务。",
    "缺乏足够的上下文，无法给出答案。",
    "现有文档没有明确规定试用期的长度。",
    "查无相关记录。",
    "文档里没有这方面的信息。",
    "抱歉，没有检索到与 VPN 相关的文章。",
    "从给出的段落中无法得知负责人是谁。",
    "手册并没有提到离线安装。",
    "我不清楚这个端口的用途。",
    "这个回答并非基于文档。",
    "没有提到 Windows 的安装步骤。",
    "參考資料中沒有提到這個設定。",
    "抱歉，無法根據文件內容回答您的問題。",
    "未检索到匹配的资料。",
    "现有资料中找不到答案。",
    "尚不清楚该功能是否支持。",
    "材料未给出具体金额。",
    "文中内容不足以回答这个问题。",
    "我只能根据已有文档回答，而其中没有这一项。",
    "没有关于这次事故的记录。",
    "信息不足。",
    "我无法确认该政策是否仍然有效。",
    "课程中没有找到关于 Terraform 的内容。",
    "没有相关内容。",
    "文档中找不到该问题的答案。",
    "很抱歉，我没有这方面的资料。",
    "所提供的材料中没有涉及该主题。",
    "目前知识库尚未收录相关内容。",
    "根据提供的信息，无法得出结论。",
    "上下文中未包含该信息。",
    "我没能找到相关的文档。",
    "抱歉，暂时没有找到答案。",
    "文档没有回答这个问题。",
    "这个问题在文档里没有提到。",
    "资料中没有给出具体数字。",
    "对不起，我没有找到关于退货政策的信息。",
    "未查询到相关信息。",
    "没有任何文档提到这一点。",
    "现有文档不包含有关定价的信息。",
    "这超出了我的知识范围。",
    "该内容未在文档中说明。",
]

WEAK_OTHER = [
    "Ich konnte dazu leider keine Informationen finden.",
    "Die Dokumente enthalten keine Angaben zum VPN.",
    "Das wird in der Dokumentation nicht erwähnt: in den Quellen steht nichts dazu.",
    "Es wurden keine relevanten Lektionen gefunden.",
    "Das weiß ich leider nicht.",
    "Je n'ai trouvé aucune information sur ce sujet.",
    "Les documents ne mentionnent pas la procédure.",
    "Désolé, aucun document pertinent n'a été trouvé.",
    "Je ne sais pas.",
    "La documentation ne contient aucune indication à ce sujet.",
    "No encontré información sobre este tema.",
    "Los documentos no mencionan el límite.",
    "Lo siento, no puedo responder con las fuentes disponibles.",
    "No hay información relevante en la base de conocimiento.",
]

GOOD_ENGLISH = [
    "Returns 404 not found when the key is missing.",
    "Run `kubectl get pods`; pods that are not ready are listed with 0/1.",
    "You cannot delete a namespace while finalizers remain.",
    "Do not restart the primary before the replica has caught up.",
    "If no documents match the query, the API returns an empty list.",
    "When the filter is empty, no documents are found.",
    "The `find` method returns null if no document was found.",
    "There is no limit on the number of repositories.",
    "No restart is required after changing the log level.",
    "The flag is not supported on Windows; use WSL instead.",
    "The error “no relevant lessons were found” means that the index is empty.",
    "> The documents do not mention Terraform.\n\nThat quote comes from the review of 2021 [1].",
    "It isn't necessary to rebuild the image.",
    "Refunds are not possible after 30 days.",
    "The token does not expire.",
    "Nothing needs to be done: the job cleans up after itself.",
    "You won't be able to log in until the account is unlocked.",
    "Users who cannot find their invoice should check the spam folder.",
    "If you can't find the setting, open Preferences and search for it.",
    "Without a licence the server refuses to start.",
    "The request fails with `ResourceNotFound` if the bucket is missing.",
    "Water damage is not covered.",
    "This command does not include hidden files.",
    "The response does not contain the user id unless `expand=user` is set.",
    "None of the replicas may be down during the upgrade.",
    "The file is not found when the path is relative, so use an absolute path.",
    "Neither the primary nor the replica needs downtime.",
    "Set `strict: false` so that unknown keys do not raise an error.",
    "The service is unable to connect because the firewall blocks port 5432.",
    "A missing document is reported as `404`, not as an empty result.",
    "Passwords are never stored in plain text.",
    'The page shows "No results found" until indexing has finished.',
    "There are no fees for transfers inside the EU.",
    "Do not share the document with external partners.",
    "Your card is not working because it was reported as lost.",
    "It can't be undone, so take a snapshot first.",
    "The alert does not fire during maintenance windows.",
    "Employees cannot carry over more than five days of leave.",
    "Only admins can see private channels; others get an error.",
    "If the lookup fails, the client logs `could not find host` and retries.",
    "Unless a context is given, the CLI uses the current one.",
    "There is no need to open a ticket; the lock is released after ten minutes.",
    "Elasticsearch deletes documents lazily, so disk usage does not drop at once.",
    "The parser ignores sections that are not listed in the table of contents.",
    "```\nI could not find any information in the documents.\n```\nThis is what the old bot printed.",
    "The insurance does not cover rental cars.",
    "The endpoint returns an empty list when nothing matches.",
    "Nothing is deleted until you confirm.",
    "You do not have access to this channel unless an admin invites you.",
    "The `--force` flag is not available in version 2.",
    "Documents that are not indexed do not appear in search.",
    "The search does not include archived pages.",
    "Files over 10 MB are not included in the backup.",
    "The policy does not cover contractors.",
    "No information is sent to third parties.",
    "If a page is not found, check the redirect table.",
    "I do not recommend running this on production.",
    "The information in the header is not encrypted.",
    "The documents must not be older than three months.",
    "Guests cannot see documents in private collections.",
    "The log doesn't contain passwords.",
    "Sources that have not changed are skipped.",
    "No documents are required for renewals under 50 EUR.",
    "There is no documentation requirement for internal tools.",
    "The runbook does not need approval.",
    "The context window is not unlimited: older messages are dropped.",
    "Do not mention the customer's name in the ticket.",
    "The text field does not accept HTML.",
    "There is not enough memory on the node, so the pod is evicted.",
    "When the document isn't found, a 404 page is shown.",
    "Results are not sorted by default.",
    "It does not matter which document you upload first.",
    "The answer is no: contractors are not eligible.",
    "No. The API does not support pagination.",
    "The audit did not find any issues.",
    "The results do not include deleted users.",
    "Unfortunately, the old API was removed in version 3; use `v3/items` instead.",
    "Sorry for the confusion: the limit is 50 requests a minute.",
    "I would not use the default password.",
    "The section on refunds does not apply to gift cards.",
    "Articles that lack a title are rejected.",
    "Your source does not have to be public.",
]

GOOD_CHINESE = [
    "如果找不到配置文件，程序会使用默认值。",
    "键不存在时返回 404 未找到。",
    "退款不得超过三十天。",
    "升级期间无法写入数据。",
    "不需要重启服务。",
    "请不要在生产环境运行该命令。",
    "该端口没有加密，只能在内网使用。",
    "密码不能少于八位。",
    "若无法确定主库，请先运行 `pg_isready`。",
    "系统未收到回复时会自动重试三次。",
    "没有管理员权限的用户不能删除频道。",
    "报错“没有找到相关文档”说明索引为空。",
    "当没有匹配的记录时，接口返回空列表。",
    "员工未经批准不得外发文件。",
    "证书过期后客户端将无法连接。",
    "该命令不会删除任何数据。",
    "试用期内没有年假。",
    "未提交的修改会丢失。",
    "这个参数没有上限。",
    "Windows 不支持该选项，请改用 WSL。",
    "> 文档中未提及退款。\n\n以上摘自 2021 年的评审记录 [1]。",
    "「无法确定」是状态字段的一个取值。",
    "登录失败超过五次后账号会被锁定，十分钟内不能再试。",
    "没有备份就不要执行迁移。",
    "日志里出现“找不到模块”时，请重新安装依赖。",
    "磁盘不足会导致写入失败。",
    "服务未启动时，先检查 8080 端口是否被占用。",
    "合同未规定的事项由双方协商解决。",
    "不在白名单内的地址会被拒绝。",
    "病人没有发热，血压正常。",
    "如文档不存在，则返回空对象。",
    "该功能默认不开启。",
    "除非设置了别名，否则无法访问旧地址。",
    "公司没有向股东分红。",
    "删除后不能恢复，请先导出。",
    "一旦没有找到节点，调度器会等待三十秒。",
    "离职员工的账号不再可用。",
    "不要把令牌写入代码仓库。",
    "无须审批，直接提交即可。",
    "副本数不能为零。",
    "提示未找到证书时，请更新根证书。",
    "该文件没有签名，因此无法安装。",
    "文档中没有权限的部分会被隐藏。",
    "上传的资料不足三份时不能提交。",
    "系统不包含默认密码。",
    "我们不提供电话支持。",
    "文件超出大小限制时会被拒绝。",
    "信息不会共享给第三方。",
    "用户不能查看他人的资料。",
    "如果资料不足，审核人会退回申请。",
    "该版本没有提供图形界面。",
    "合同没有规定违约金，双方可另行协商。",
    "没有记录的变更视为无效。",
]


@pytest.mark.parametrize("answer", WEAK_ENGLISH)
def test_an_english_refusal_is_weak(answer):
    assert weak_phrase(answer)


@pytest.mark.parametrize("answer", WEAK_CHINESE)
def test_a_chinese_refusal_is_weak(answer):
    assert weak_phrase(answer)


@pytest.mark.parametrize("answer", WEAK_OTHER)
def test_a_german_french_or_spanish_refusal_is_weak(answer):
    assert weak_phrase(answer)


@pytest.mark.parametrize("answer", GOOD_ENGLISH)
def test_an_english_answer_with_a_negation_is_not_weak(answer):
    assert weak_phrase(answer) is None


@pytest.mark.parametrize("answer", GOOD_CHINESE)
def test_a_chinese_answer_with_a_negation_is_not_weak(answer):
    assert weak_phrase(answer) is None


def test_own_words_leave_out_quotations_code_and_citation_marks():
    answer = '> quoted line\nSee "not found" and `no docs` [1].\n```\nno docs\n```\n「未提及」 «rien» done'
    kept = own_words(answer)
    for gone in ("quoted line", "not found", "no docs", "[1]", "未提及", "rien"):
        assert gone not in kept
    assert "done" in kept


def test_an_unclosed_fence_hides_the_rest_of_the_answer():
    assert weak_phrase("Output:\n```\nI could not find any documents.") is None


def test_an_empty_answer_says_nothing_about_its_grounds():
    assert weak_phrase("") is None
    assert weak_phrase(" \n\t") is None


def test_a_refusal_after_a_good_part_still_counts():
    assert weak_phrase("On Linux run `apt install x` [1]. The sources do not mention Windows.")


@pytest.mark.parametrize(
    "huge", ["no " * 60_000, '"' * 120_000, "the documents " * 20_000, "没有" * 60_000, "[" * 100_000, "`" * 90_000]
)
def test_a_huge_answer_is_read_in_bounded_time(huge):
    start = time.perf_counter()
    weak_phrase(huge)
    assert time.perf_counter() - start < 5
    assert len(own_words(huge)) <= 3 * ANSWER_LIMIT


@settings(max_examples=300, deadline=None)
@given(st.text())
def test_any_text_is_judged_without_an_error(text):
    found = weak_phrase(text)
    assert found is None or found
