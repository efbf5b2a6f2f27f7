//! The user guide lists every kind of finding and every reserved root.

#[test]
fn every_finding_and_root_is_in_the_guide() {
    let guide = include_str!("../../../docs/hosts.md");
    let sources = [
        include_str!("../src/codes.rs"),
        include_str!("../../units/src/syntax.rs"),
        include_str!("../../lath/src/host/identity.rs"),
    ];
    let mut found = 0;
    for source in sources {
        for rest in source.split("Code(\"").skip(1) {
            let code = rest.split('"').next().unwrap();
            assert!(guide.contains(&format!("| `{code}` |")), "{code}");
            found += 1;
        }
    }
    assert!(found > 35, "{found}");
    for root in hosts::RESERVED_ROOTS {
        assert!(guide.contains(&format!("`{root}`")), "{root}");
    }
}
