//! Causes in the outputs of compilers, test runners, package managers and services.

use super::{Cause, find_cause, reports_failure};
use proptest::prelude::*;

/// Output, message, test.
type Case = (&'static str, &'static str, Option<&'static str>);

fn check(cases: &[Case]) {
    for (output, message, test) in cases {
        let expected = Cause {
            message: (*message).to_owned(),
            test: test.map(str::to_owned),
        };
        assert_eq!(find_cause(output), expected, "{output}");
    }
}

#[test]
fn cause_in_compiled_languages() {
    check(&[
        (
            "   Compiling shop v0.1.0\nerror[E0433]: failed to resolve: use of undeclared crate or module `serde`\n --> src/lib.rs:1:5\n  |\n1 | use serde::Serialize;\n\nerror: aborting due to 1 previous error\nerror: could not compile `shop` (lib) due to 1 previous error",
            "error[E0433]: failed to resolve: use of undeclared crate or module `serde`",
            None,
        ),
        (
            "running 2 tests\ntest cart::adds ... FAILED\ntest cart::error_free ... ok\n\nfailures:\n\n---- cart::adds stdout ----\n\nthread 'cart::adds' panicked at src/cart.rs:10:9:\nassertion `left == right` failed: total\n  left: 3\n right: 4\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n\n\nfailures:\n    cart::adds\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\nerror: test failed, to rerun pass `--lib`",
            "assertion `left == right` failed: total; left: 3; right: 4",
            Some("cart::adds"),
        ),
        (
            "thread 'main' panicked at src/main.rs:4:40:\ncalled `Option::unwrap()` on a `None` value\nnote: run with `RUST_BACKTRACE=1`",
            "called `Option::unwrap()` on a `None` value",
            None,
        ),
        (
            "# example.com/shop\n./cart.go:12:9: undefined: Price\n./cart.go:20:2: too many errors",
            "./cart.go:12:9: undefined: Price",
            None,
        ),
        (
            "--- FAIL: TestTotal (0.00s)\n    cart_test.go:9: got 3, want 4\nFAIL\nexit status 1\nFAIL\texample.com/shop\t0.003s",
            "cart_test.go:9: got 3, want 4",
            Some("TestTotal"),
        ),
        (
            "main.go:5:2: no required module provides package github.com/x/y; to add it:\n\tgo get github.com/x/y",
            "main.go:5:2: no required module provides package github.com/x/y; to add it: go get github.com/x/y",
            None,
        ),
        (
            "gcc -c a.c\na.c:1:10: fatal error: zlib.h: No such file or directory\n    1 | #include <zlib.h>\ncompilation terminated.\nmake: *** [Makefile:3: a.o] Error 1",
            "a.c:1:10: fatal error: zlib.h: No such file or directory",
            None,
        ),
        (
            "/usr/bin/ld: /tmp/a.o: in function `main':\na.c:(.text+0x9): undefined reference to `deflate'\ncollect2: error: ld returned 1 exit status\nmake: *** [Makefile:5: a] Error 1",
            "a.c:(.text+0x9): undefined reference to `deflate'",
            None,
        ),
        (
            "make: *** No rule to make target 'config.h', needed by 'a.o'.  Stop.",
            "make: *** No rule to make target 'config.h', needed by 'a.o'. Stop.",
            None,
        ),
        (
            "> Task :compileJava FAILED\n/p/src/Cart.java:3: error: cannot find symbol\n    Money total;\n    ^\n  symbol:   class Money\n1 error\n\nFAILURE: Build failed with an exception.\n\n* What went wrong:\nExecution failed for task ':compileJava'.",
            "/p/src/Cart.java:3: error: cannot find symbol",
            None,
        ),
        (
            "\nFAILURE: Build failed with an exception.\n\n* What went wrong:\nExecution failed for task ':app:compileClasspath'.\n> Could not resolve com.acme:money:1.2.\n  > Required by: project :app\n\n* Try:\n> Run with --info",
            "Could not resolve com.acme:money:1.2.",
            None,
        ),
        (
            "CartTest > adds() FAILED\n    org.opentest4j.AssertionFailedError: expected: <4> but was: <3>\n        at CartTest.adds(CartTest.java:9)\n\n2 tests completed, 1 failed\n\nFAILURE: Build failed with an exception.",
            "org.opentest4j.AssertionFailedError: expected: <4> but was: <3>",
            Some("CartTest > adds()"),
        ),
        (
            "[ERROR] COMPILATION ERROR : \n[ERROR] /p/src/Cart.java:[3,9] cannot find symbol\n[ERROR]   symbol:   class Money\n[INFO] BUILD FAILURE\n[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:3.11:compile",
            "/p/src/Cart.java:[3,9] cannot find symbol",
            None,
        ),
        (
            "Exception in thread \"main\" org.springframework.beans.BeanCreationException: Error creating bean\n\tat a.b(C.java:1)\nCaused by: java.net.ConnectException: Connection refused\n\tat a.c(C.java:2)\n\t... 12 more",
            "java.net.ConnectException: Connection refused",
            None,
        ),
        (
            "Cart.cs(3,9): error CS0246: The type or namespace name 'Money' could not be found [/p/Shop.csproj]\n\nBuild FAILED.\n    0 Warning(s)\n    1 Error(s)",
            "Cart.cs(3,9): error CS0246: The type or namespace name 'Money' could not be found [/p/Shop.csproj]",
            None,
        ),
        (
            "  Failed Shop.CartTests.Adds [5 ms]\n  Error Message:\n   Assert.Equal() Failure: Values differ\nExpected: 4\nActual:   3\n  Stack Trace:\n     at Shop.CartTests.Adds() in /p/CartTests.cs:line 9\n\nFailed!  - Failed:     1, Passed:     3, Skipped:     0, Total:     4, Duration: 5 ms - Shop.dll (net8.0)",
            "Assert.Equal() Failure: Values differ; Expected: 4; Actual: 3",
            Some("Shop.CartTests.Adds"),
        ),
    ]);
}

#[test]
fn cause_in_script_languages() {
    check(&[
        (
            " FAIL  src/cart.test.js\n  ● cart › adds an item\n\n    expect(received).toBe(expected) // Object.is equality\n\n    Expected: 4\n    Received: 3\n\n      5 |   expect(total).toBe(4)\n\nTests:       1 failed, 2 passed, 3 total\nnpm ERR! code ELIFECYCLE",
            "expect(received).toBe(expected) // Object.is equality; Expected: 4; Received: 3",
            Some("cart › adds an item"),
        ),
        (
            "> shop@1.0.0 build\n> webpack\n\nModule not found: Error: Can't resolve 'lodash' in '/p/src'\nwebpack 5.9 compiled with 1 error in 300 ms\nnpm ERR! code ELIFECYCLE\nnpm ERR! errno 1",
            "Module not found: Error: Can't resolve 'lodash' in '/p/src'",
            None,
        ),
        (
            "npm ERR! Missing script: \"lint\"\nnpm ERR! \nnpm ERR! A complete log of this run can be found in: /x.log",
            "Missing script: \"lint\"",
            None,
        ),
        (
            "npm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree\nnpm error\nnpm error Could not resolve dependency:\nnpm error peer react@\"^17\" from x@1.0.0",
            "Could not resolve dependency: peer react@\"^17\" from x@1.0.0",
            None,
        ),
        (
            "src/cart.ts(3,9): error TS2304: Cannot find name 'Money'.\nerror Command failed with exit code 2.",
            "src/cart.ts(3,9): error TS2304: Cannot find name 'Money'.",
            None,
        ),
        (
            "node:internal/modules/cjs/loader:1080\n  throw err;\n  ^\n\nError: Cannot find module './config'\nRequire stack:\n- /p/a.js\n    at Module._resolveFilename (node:internal/modules/cjs/loader:1077:15)",
            "Error: Cannot find module './config'",
            None,
        ),
        (
            "/p/src/cart.js\n  3:5  error  'x' is not defined  no-undef\n\n✖ 1 problem (1 error, 0 warnings)",
            "3:5 error 'x' is not defined no-undef",
            None,
        ),
        (
            "Traceback (most recent call last):\n  File \"/p/app.py\", line 1, in <module>\n    import yaml  # error: never\nModuleNotFoundError: No module named 'yaml'",
            "ModuleNotFoundError: No module named 'yaml'",
            None,
        ),
        (
            "============ FAILURES ============\n____________ test_total ____________\n\n    def test_total():\n>       assert total() == 4\nE       assert 3 == 4\nE        +  where 3 = total()\n\ntests/test_cart.py:5: AssertionError\n============ short test summary info ============\nFAILED tests/test_cart.py::test_total - assert 3 == 4\n============ 1 failed, 2 passed in 0.03s ============",
            "assert 3 == 4",
            Some("test_total"),
        ),
        (
            "============ ERRORS ============\n_____ ERROR collecting tests/test_cart.py _____\nImportError while importing test module '/p/tests/test_cart.py'.\nHint: make sure your test modules have valid Python names.\nTraceback:\ntests/test_cart.py:1: in <module>\n    import shop\nE   ModuleNotFoundError: No module named 'shop'\n============ short test summary info ============\nERROR tests/test_cart.py\n!!!! Interrupted: 1 error during collection !!!!",
            "ModuleNotFoundError: No module named 'shop'",
            None,
        ),
        (
            "FAILED tests/test_a.py::test_x - ValueError: no key\nFAILED tests/test_a.py::test_y - ValueError: no key\n2 failed in 0.1s",
            "ValueError: no key",
            None,
        ),
        (
            "  1) test mount renders (App.PageTest)\n     test/page_test.exs:58\n     ** (RuntimeError) no :secret_key_base configuration found in App.Endpoint.\n     code: live(conn, \"/\")\n\n  2) test mount closes (App.PageTest)\n     test/page_test.exs:70\n     ** (RuntimeError) no :secret_key_base configuration found in App.Endpoint.\n\n5 tests, 2 failures",
            "(RuntimeError) no :secret_key_base configuration found in App.Endpoint.",
            None,
        ),
        (
            "     error: undefined function get/2 (expected App.PageTest to define such a function)\n     │\n 12 │       live(conn, \"/\")\n     │       ^^^^\n\n== Compilation error in file test/page_test.exs ==\n** (CompileError) test/page_test.exs: cannot compile module App.PageTest (errors have been logged)",
            "error: undefined function get/2 (expected App.PageTest to define such a function)",
            None,
        ),
        (
            "Failures:\n\n  1) Cart adds an item\n     Failure/Error: expect(cart.total).to eq(4)\n\n       expected: 4\n            got: 3\n\n       (compared using ==)\n\n3 examples, 1 failure",
            "Failure/Error: expect(cart.total).to eq(4) expected: 4; got: 3",
            Some("Cart adds an item"),
        ),
        (
            "Could not find gem 'pg' in locally installed gems.\nRun `bundle install` to install missing gems.",
            "Could not find gem 'pg' in locally installed gems.",
            None,
        ),
        (
            "There was 1 failure:\n\n1) Tests\\CartTest::testTotal\nFailed asserting that 3 matches expected 4.\n\n/p/tests/CartTest.php:12\n\nFAILURES!\nTests: 3, Assertions: 3, Failures: 1.",
            "Failed asserting that 3 matches expected 4.",
            Some("Tests\\CartTest::testTotal"),
        ),
        (
            "Your requirements could not be resolved to an installable set of packages.\n\n  Problem 1\n    - Root composer.json requires php ^8.2 but your php version (8.1.2) does not satisfy that requirement.",
            "Root composer.json requires php ^8.2 but your php version (8.1.2) does not satisfy that requirement.",
            None,
        ),
        (
            "PHP Fatal error:  Uncaught Error: Class \"Money\" not found in /p/a.php:3",
            "PHP Fatal error: Uncaught Error: Class \"Money\" not found in /p/a.php:3",
            None,
        ),
    ]);
}

#[test]
fn cause_in_tools_and_services() {
    check(&[
        (
            "Exit code 128\nfatal: The current branch topic has no upstream branch.\nTo push the current branch and set the remote as upstream, use\n\n    git push --set-upstream origin topic",
            "fatal: The current branch topic has no upstream branch.",
            None,
        ),
        (
            "The following paths are ignored by one of your .gitignore files:\nbuild/out\nhint: Use -f if you really want to add them.",
            "The following paths are ignored by one of your .gitignore files: build/out",
            None,
        ),
        (
            "╷\n│ Error: Missing required argument\n│ \n│   on main.tf line 3, in resource \"aws_instance\" \"a\":\n│ The argument \"ami\" is required, but no definition was found.",
            "Error: Missing required argument",
            None,
        ),
        (
            "#8 0.512 E: Unable to locate package libfoo\n------\nERROR: failed to solve: process \"/bin/sh -c apt-get install libfoo\" did not complete successfully: exit code: 100",
            "E: Unable to locate package libfoo",
            None,
        ),
        (
            "Error response from daemon: driver failed programming external connectivity: Bind for 0.0.0.0:5432 failed: port is already allocated",
            "Error response from daemon: driver failed programming external connectivity: Bind for 0.0.0.0:5432 failed: port is already allocated",
            None,
        ),
        (
            "psql: error: connection to server at \"localhost\" (127.0.0.1), port 5432 failed: Connection refused\n\tIs the server running on that host?",
            "psql: error: connection to server at \"localhost\" (127.0.0.1), port 5432 failed: Connection refused",
            None,
        ),
        (
            "<untrusted_context>\nOutput: python3: can't open file 'x.py': [Errno 2] No such file or directory\nExit Code: 2\nProcess Group PGID: 41\n</untrusted_context>",
            "python3: can't open file 'x.py': [Errno 2] No such file or directory",
            None,
        ),
        (
            "```\nbash: line 1: cmake: command not found\n```\nExit code: 127",
            "bash: line 1: cmake: command not found",
            None,
        ),
        (
            "┃ Refactoring opportunities\n┃ \n┃ [F] → Function body is nested too deep (max depth is 2, was 4).\n┃       lib/a.ex:3:5 #(A.b)\n\n12 mods/funs, found 1 refactoring opportunity.",
            "[F] → Function body is nested too deep (max depth is 2, was 4).",
            None,
        ),
        (
            "Compiling 2 files (.ex)\n    warning: variable \"x\" is unused\n    │\n\nCompilation failed due to warnings while using the --warnings-as-errors option",
            "warning: variable \"x\" is unused",
            None,
        ),
        ("Exit code 1", "", None),
        ("1 failing", "1 failing", None),
    ]);
}

#[test]
fn reports_failure_of_filtered_outputs() {
    for (output, is_failure) in [
        ("58 tests, 1 failure", true),
        ("14 doctests, 65 tests, 0 failures", false),
        ("test result: ok. 3 passed; 0 failed; 0 ignored", false),
        ("test result: FAILED. 3 passed; 1 failed; 0 ignored", true),
        ("error[E0308]: mismatched types", true),
        ("Tests: 1 failed, 2 passed", true),
        ("Tests: 3 passed, 3 total", false),
        ("BUILD FAILED in 3s", true),
        ("src/a.rs:3: error: old text", false),
        ("commit 12 fix error: handling", false),
        ("Failures: 0, Errors: 0", false),
        ("Traceback (most recent call last)", true),
        ("", false),
    ] {
        assert_eq!(reports_failure(output), is_failure, "{output}");
    }
}

proptest! {
    #[test]
    fn find_cause_never_panics(output in "(?s).{0,300}") {
        find_cause(&output);
    }

    #[test]
    fn find_cause_of_mixed_lines_never_panics(lines in prop::collection::vec(
        prop::sample::select(vec![
            "E   x", "thread 'a' panicked at ", "thread 'é' panicked at 'x", "● a › b", "Caused by: x", "1) a (B)", "error:",
            "Error Message:", "____a____", "FAILED a.py::b - c", "\u{1b}[31m", "#1 2 ü", "Failure/Error:", "é: ", "a.é:1: b c",
        ]),
        0..12,
    )) {
        find_cause(&lines.join("\n"));
    }
}
