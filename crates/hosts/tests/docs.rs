//! The user guide lists every kind of finding and every reserved root, and every finding has a case.

#[test]
fn every_finding_is_in_the_guide_and_in_a_case() {
    let guide = include_str!("../../../docs/hosts.md");
    let sources = [
        include_str!("../src/codes.rs"),
        include_str!("../../units/src/syntax.rs"),
        include_str!("../../lath/src/host/identity.rs"),
    ];
    let cases = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let cases: Vec<String> = std::fs::read_dir(cases)
        .unwrap()
        .map(|case| std::fs::read_to_string(case.unwrap().path()).unwrap())
        .collect();
    let mut found = 0;
    for source in sources {
        for rest in source.split("Code(\"").skip(1) {
            let code = rest.split('"').next().unwrap();
            assert!(guide.contains(&format!("| `{code}` |")), "{code}");
            let shown = format!("[{code}]");
            assert!(
                cases.iter().any(|case| case.contains(&shown)),
                "no case shows {code}"
            );
            found += 1;
        }
    }
    assert!(found > 35, "{found}");
    for root in hosts::RESERVED_ROOTS {
        assert!(guide.contains(&format!("`{root}`")), "{root}");
    }
}
