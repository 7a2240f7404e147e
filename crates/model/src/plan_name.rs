//! Name of a plan as given by callers: `PLAN` or `STAGE/PLAN`.

/// Plan with its optional stage. Records belong to the plan; the stage only locates the folder of its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanName<'n> {
    /// Everything before the last part.
    pub stage: Option<&'n str>,
    /// The last part, which names records.
    pub plan: &'n str,
}

impl<'n> PlanName<'n> {
    /// Splits a name at its last slash. Spaces around the parts and slashes at the end do not count.
    pub fn parse(name: &'n str) -> Self {
        let name = name.trim();
        let whole = name.trim_end_matches(|c: char| c == '/' || c.is_whitespace());
        let Some((stage, plan)) = whole.rsplit_once('/') else {
            let plan = if whole.is_empty() { name } else { whole };
            return Self { stage: None, plan };
        };
        let stage = stage.trim();
        Self {
            stage: (!stage.is_empty()).then_some(stage),
            plan: plan.trim(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plan_name_is_its_last_part() {
        for (name, stage, plan) in [
            ("REQ-1", None, "REQ-1"),
            ("wip/REQ-1", Some("wip"), "REQ-1"),
            (" wip / REQ-1 ", Some("wip"), "REQ-1"),
            ("a/b/REQ-1", Some("a/b"), "REQ-1"),
            ("REQ-1/", None, "REQ-1"),
            ("wip/REQ-1//", Some("wip"), "REQ-1"),
            ("/REQ-1", None, "REQ-1"),
            ("/", None, "/"),
            ("", None, ""),
        ] {
            assert_eq!(PlanName::parse(name), PlanName { stage, plan }, "{name:?}");
            assert_eq!(PlanName::parse(plan).plan, plan, "a plan stays itself");
        }
    }
}
