"""Reference vectors of all-MiniLM-L6-v2 in 64-bit arithmetic, and the texts of the parity tests."""

import json
import random

import numpy as np

import golden
from build_static import CLS, SEP, forward, tensors  # noqa: F401

PASSAGE = 254
FIXTURES = 200

QUESTIONS = """how do we deploy staging?
Which port does the admin service use?
why is the login test flaky on Windows
where are the carts stored, and who cleans them up?
what did we decide about retries in the payment client?
Can I rename the config key `max_conns` without breaking old files?
is there a convention for naming migrations
who owns the ingest pipeline now?
what breaks if I bump tokio to the next minor version?
How long are idempotency keys kept?
did we ever try memory-mapping the index
remind me what the nightly job does when the disk is full
the build is slow again, anything we know about that?
which tests must not run in parallel and why
do invoices need a signature in Switzerland
ok
hi
thanks, looks good!
fix it
Please make the exporter stream its rows instead of building one large string, keep the order of the columns and write a test.""".split("\n")

RECORDS = """Production only goes out by pushing a tag v*: release.yml promotes the build and runs the database migrations first.
We chose SQLite over Postgres for the edge nodes because a node must work for days without any network.
The watchdog resets the sensor board after 8 s; never block longer in an interrupt handler.
Prefer small functions, no abbreviations in public names, and comments that give reasons.
Error ECONNRESET from the artifact store: it closes idle connections after 60 s, so the pool must drop them after 50 s.
Tried caching rendered pages in Redis; rejected, since invalidation on price changes took more code than it saved.
Learning: gradient accumulation with mixed precision needs the scaler to unscale before clipping.
The operator writes status conditions only if they changed, otherwise every reconcile triggers the next one.
Backups are verified by restoring one random file a day and comparing its BLAKE3 hash.
Kotlin code is formatted by ktlint 1.2; the CI job fails on a single wrong blank line.""".split("\n")

CODE = [
    "fn main() {\n    let args: Vec<String> = std::env::args().collect();\n    println!(\"{}\", args.len());\n}",
    "def moving_average(xs, n=5):\n    return [sum(xs[i:i+n]) / n for i in range(len(xs) - n + 1)]",
    "SELECT o.id, SUM(l.price * l.qty) AS total FROM orders o JOIN lines l ON l.order_id = o.id GROUP BY o.id HAVING total > 100",
    "kubectl -n prod rollout restart deploy/api && kubectl -n prod rollout status deploy/api --timeout=120s",
    "const res = await fetch(`/api/v2/items/${id}`, { method: 'PATCH', headers: { 'If-Match': etag } });",
    "#include <stdio.h>\nint main(void) { for (int i = 0; i < 10; ++i) printf(\"%d\\n\", i * i); return 0; }",
    "src/store/sqlite/index/posting_cache.rs", "/usr/lib/x86_64-linux-gnu/libssl.so.3", "..\\..\\packages\\web\\tsconfig.base.json",
    "https://staging.example.org/orders?id=42&view=full#lines",
    "error[E0502]: cannot borrow `self.rows` as mutable because it is also borrowed as immutable\n  --> src/table.rs:88:9",
    "Traceback (most recent call last):\n  File \"train.py\", line 214, in <module>\n    loss.backward()\nRuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB",
    "java.lang.NullPointerException: Cannot invoke \"String.length()\" because \"name\" is null\n\tat com.acme.Cart.total(Cart.java:57)",
    "npm ERR! code ERESOLVE\nnpm ERR! Found: react@19.0.0 peer react@\"^18\" from react-dates@21.8.0",
    "panicked at 'called `Option::unwrap()` on a `None` value', src/lib.rs:12:34",
    "fatal: refusing to merge unrelated histories", "ORA-01555: snapshot too old: rollback segment number 9 with name \"_SYSSMU9$\" too small",
    "{\"level\":\"warn\",\"ts\":\"2026-03-01T02:03:04Z\",\"msg\":\"slow query\",\"ms\":1834}",
]

SCRIPTS = [
    "Die Datenbank wird jede Nacht gesichert und einmal am Tag geprüft.", "La base de données est sauvegardée chaque nuit, même le dimanche.",
    "¿Por qué falla la prueba de inicio de sesión?", "Por que o teste de sessão falhou ontem à noite?",
    "Base danych jest archiwizowana każdej nocy, źródła też.", "Tại sao bài kiểm tra đăng nhập lại thất bại?", "Veritabanı her gece yedekleniyor, İstanbul'da da.",
    "Почему тест входа падает на Windows?", "Чому база даних не зберігається щоночі?", "Γιατί αποτυγχάνει η δοκιμή σύνδεσης;",
    "لماذا يفشل اختبار تسجيل الدخول؟", "מדוע בדיקת הכניסה נכשלת?", "چرا آزمون ورود ناموفق است؟",
    "लॉगिन परीक्षण क्यों विफल होता है?", "লগইন পরীক্ষা কেন ব্যর্থ হয়?", "உள்நுழைவு சோதனை ஏன் தோல்வியடைகிறது?", "లాగిన్ పరీక్ష ఎందుకు విఫలమవుతుంది?",
    "ಲಾಗಿನ್ ಪರೀಕ್ಷೆ ಏಕೆ ವಿಫಲವಾಗುತ್ತದೆ?", "ലോഗിൻ പരിശോധന പരാജയപ്പെടുന്നത് എന്തുകൊണ്ട്?", "ਲਾਗਇਨ ਟੈਸਟ ਕਿਉਂ ਫੇਲ੍ਹ ਹੁੰਦਾ ਹੈ?", "લૉગિન પરીક્ષણ કેમ નિષ્ફળ જાય છે?",
    "ทำไมการทดสอบการเข้าสู่ระบบจึงล้มเหลว", "ເປັນຫຍັງການທົດສອບຈຶ່ງລົ້ມເຫຼວ", "ហេតុអ្វីការធ្វើតេស្តបរាជ័យ?", "စမ်းသပ်မှု ဘာကြောင့် မအောင်မြင်တာလဲ။", "ལས་འགུལ་འདི་ག་རེ་བྱས་ནས་མ་གྲུབ།",
    "为什么登录测试会失败？", "為什麼登入測試會失敗？", "ログインのテストはなぜ失敗しますか。", "로그인 테스트가 왜 실패합니까?",
    "რატომ ვერ ხერხდება შესვლის ტესტი?", "Ինչո՞ւ է մուտքի թեստը ձախողվում։", "የመግቢያ ሙከራው ለምን አልተሳካም?", "පිවිසුම් පරීක්ෂණය අසාර්ථක වන්නේ ඇයි?", "ᎣᏏᏲ ᏙᎯᏧ", "ᚠᛇᚻ᛫ᛒᛦᚦ᛫ᚠᚱᚩᚠᚢᚱ",
]

EDGES = [
    "a", "?", "🙂", "🚀🚀🚀 shipped!", "\u0000", "\ufffd\ufffd", "x" * 3000, "-" * 600, "word " * 254, "word " * 255, "word " * 253 + "end",
    "0123456789" * 30, "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVowMTIzNDU2Nzg5" * 12, "\t\n  spaced   out \r\n",
]


def long_texts():
    """Texts of several passages, from the sentences above in a fixed order."""
    chance = random.Random(384)
    sentences = QUESTIONS + RECORDS + CODE + SCRIPTS
    for count in (12, 16, 24, 40, 56, 80):
        yield " ".join(chance.choice(sentences) for _ in range(count))
    yield "\n".join(RECORDS * 4)


def texts():
    fixed = QUESTIONS + RECORDS + CODE + SCRIPTS + EDGES + list(long_texts())
    tricky = [text for text in golden.tricky() if text.strip()]
    step = len(tricky) // (FIXTURES - len(fixed))
    chosen = tricky[:: max(1, step)][: FIXTURES - len(fixed)]
    return fixed + chosen


def encode(ids, weights):
    """Mean of the outputs of a passage, with length 1."""
    out = forward(np.array([[CLS, *ids, SEP]]), weights)[0].mean(0)
    return out / np.linalg.norm(out)


def write_fixture(folder, lines, weights):
    """Texts with the piece ids of each passage (JSONL), and one vector a passage (16-bit numbers, largest 32767)."""
    tokenizer = golden.tokenizer(lines)
    count, rows = 0, bytearray()
    with open(folder / "texts.jsonl", "w", encoding="ascii") as file:
        for text in texts():
            ids = tokenizer.encode(text, add_special_tokens=False).ids
            passages = [ids[at : at + PASSAGE] for at in range(0, len(ids), PASSAGE)]
            for passage in passages:
                vector = encode(passage, weights)
                rows += np.rint(vector / np.abs(vector).max() * 32767).astype("<i2").tobytes()
            file.write(json.dumps({"text": text, "passages": passages}, separators=(",", ":")) + "\n")
            count += 1
    (folder / "vectors.bin").write_bytes(rows)
    return f"{folder}: {count} texts, {len(rows) // 768} passages"
