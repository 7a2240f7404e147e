use super::*;
use StatementEffect::{Contradicts, Replaces};

#[track_caller]
fn check(earlier: &str, later: &str, expected: Option<StatementEffect>) {
    let (first, second) = (Statement::from_text(earlier), Statement::from_text(later));
    assert_eq!(
        second.effect_on(&first),
        expected,
        "{earlier:?} {first:?}\n{later:?} {second:?}"
    );
}

#[test]
fn changed_mind_replaces_the_earlier_statement() {
    for (earlier, later) in [
        (
            "Never use floats for money, always integer cents.",
            "Change of plan: from now on use Decimal for money, not integer cents.",
        ),
        (
            "Always run the tests with SHOP_DB_URL=sqlite:///:memory:, never against the real database.",
            "The tests must run with SHOP_DB_URL=postgresql://localhost/shop_test now.",
        ),
        (
            "Always run the tests with SHOP_DB_URL=sqlite:///:memory:, never against the real database.",
            "No, stop running the tests with sqlite.",
        ),
        (
            "This service uses loguru.",
            "Migrate from loguru to stdlib logging with colours",
        ),
        (
            "The unit tests run with Jest.",
            "We switched from Jest to Vitest.",
        ),
        ("Install packages with npm.", "We replaced npm with pnpm."),
        (
            "Start the dashboard in Docker.",
            "No Docker any more; the dashboard is run directly.",
        ),
        (
            "Run the lint hook tool before each commit.",
            "The lint hook tool is no longer used.",
        ),
        (
            "Die Tests laufen mit Docker.",
            "Ab sofort laufen die Tests mit Podman statt Docker.",
        ),
        (
            "Lance les tests avec Jest.",
            "Désormais lance les tests avec Vitest au lieu de Jest.",
        ),
        (
            "Formatea el código con Prettier.",
            "A partir de ahora usa Biome en vez de Prettier para el código que se formatea.",
        ),
        (
            "Deploy with make release.",
            "Deploy with just release instead of make release.",
        ),
        (
            "Use yarn to install packages.",
            "We moved from yarn to pnpm.",
        ),
        (
            "Deploys go to Heroku.",
            "Deploys no longer go to Heroku, they go to Fly.",
        ),
        (
            "Write commit messages in German.",
            "Write commit messages in English from now on.",
        ),
        (
            "The API listens on port 8080.",
            "The API listens on port 9090 now.",
        ),
        (
            "Tests use the fake clock from tests/clock.py.",
            "Instead of the fake clock use freezegun in the tests.",
        ),
        (
            "Use MySQL as the database.",
            "Migrate database from MySQL to PostgreSQL",
        ),
        (
            "The default branch is master.",
            "The default branch is main now, not master.",
        ),
        (
            "Mock the payment gateway in tests.",
            "Stop mocking the payment gateway in tests; use the sandbox.",
        ),
        (
            "Nutze Poetry für Abhängigkeiten.",
            "Ab sofort nutzen wir uv statt Poetry.",
        ),
        (
            "Usa Jenkins para los despliegues.",
            "Ya no usamos Jenkins para los despliegues.",
        ),
    ] {
        check(earlier, later, Some(Replaces));
    }
}

#[test]
fn settings_of_a_rule_and_of_a_fix_are_compared() {
    let fix = "set the variable: `SHOP_DB_URL=sqlite:///:memory: PYTHONPATH=src python3 -m unittest` works.";
    for (rule, agrees) in [
        (
            "The tests must run with SHOP_DB_URL=postgresql://localhost/shop_test now.",
            Some(false),
        ),
        (
            "Always run the tests with SHOP_DB_URL=sqlite:///:memory:, never against the real database.",
            Some(true),
        ),
        (
            "Never run the tests with SHOP_DB_URL=postgresql://prod.",
            None,
        ),
        ("Run the tests with LANG=C.", None),
        ("Stop running the tests with sqlite.", None),
    ] {
        let (rule_read, fix) = (Statement::from_text(rule), Statement::from_text(fix));
        assert!(fix.has_settings());
        assert_eq!(
            rule_read.agrees_on_settings(&fix),
            agrees,
            "{rule} {rule_read:?}"
        );
    }
}

#[test]
fn opposite_statement_replaces_the_earlier_one() {
    for (one, other) in [
        ("Use tabs in this package", "Never use tabs in this package"),
        ("Run npm install first", "Don’t run npm install first"),
        ("Tests need Docker", "Tests do not need Docker"),
        (
            "Pendant la revue il faut toujours modifier le schéma",
            "Pendant la revue il ne faut pas toujours modifier le schéma",
        ),
        (
            "Nach dem Merge den Cache immer leeren",
            "Nach dem Merge den Cache nie leeren",
        ),
        (
            "Siempre ejecuta las migraciones",
            "Nunca ejecuta las migraciones",
        ),
        (
            "Всегда запускай миграции базы",
            "Не запускай всегда миграции базы",
        ),
    ] {
        check(one, other, Some(Replaces));
        check(other, one, Some(Replaces));
    }
}

#[test]
fn contradiction_without_a_sign_of_a_change_is_a_question() {
    check(
        "Amounts of money are integer cents",
        "Use Decimal for money, not cents",
        Some(Contradicts),
    );
    check(
        "From now on use Decimal for money, not integer cents.",
        "Amounts of money are integer cents",
        Some(Contradicts),
    );
    check(
        "Run the tests with DB_URL=sqlite",
        "Run the tests with DB_URL=postgres",
        Some(Contradicts),
    );
}

#[test]
fn other_statement_stays() {
    for (earlier, later) in [
        (
            "We keep SQLite for local development instead of Postgres, because the CI has no Postgres.",
            "No, stop running the tests with sqlite.",
        ),
        ("Never use Jest.", "We switched from Jest to Vitest."),
        (
            "Use Decimal for money instead of integer cents.",
            "Change of plan: from now on use Decimal for money, not integer cents.",
        ),
        ("Use tabs", "Use spaces"),
        ("Use tabs", "Never use spaces"),
        ("Never use tabs", "Don't use tabs"),
        ("New branches start from main.", "Never push to main."),
        (
            "Never push to main.",
            "This removal may go straight to main.",
        ),
        ("Run the unit tests with A=1", "Build the docs with A=2"),
        (
            "The API uses port 8080",
            "From now on write the changelog by hand",
        ),
        (
            "Use Docker for integration tests.",
            "Don't use Docker for unit tests.",
        ),
        (
            "Write tests for every parser.",
            "Stop writing tests for generated files.",
        ),
        (
            "The API listens on port 8080.",
            "From now on the dashboard listens on port 9090.",
        ),
        (
            "New branches start from main.",
            "From now on: commits are made on feature branches, not on main.",
        ),
        (
            "Use Redis for sessions.",
            "We moved the rate limiter from Redis to Postgres.",
        ),
        (
            "Use yarn to install packages.",
            "We moved from bower to webpack.",
        ),
        ("", ""),
    ] {
        check(earlier, later, None);
    }
}
