//! The package that is measured with: two hundred keys of several types, all with defaults.

pub const KEYS: usize = 200;

pub fn name(i: usize) -> String {
    format!("area{}.setting_{i:03}", i % 8)
}

/// Its files, each with its path.
pub fn files() -> [(&'static str, String); 2] {
    let mut groups: Vec<Vec<String>> = vec![Vec::new(); 8];
    for i in 0..KEYS {
        let (kind, default) = match i % 4 {
            0 => ("number", format!("0.{}", i % 9 + 1)),
            1 => ("string", format!("\"value {i}\"")),
            2 => ("boolean", "true".to_owned()),
            _ => ("integer", i.to_string()),
        };
        let schema =
            format!("\"setting_{i:03}\": {{\"type\": \"{kind}\", \"default\": {default}}}");
        groups.get_mut(i % 8).unwrap().push(schema);
    }
    let groups: Vec<String> = groups
        .iter()
        .enumerate()
        .map(|(i, keys)| format!("\"area{i}\": {{\"properties\": {{{}}}}}", keys.join(",")))
        .collect();
    let schema = format!("{{\"properties\": {{{}}}}}", groups.join(","));
    let manifest = "name: bench\nversion: 1.0.0\noverlayTemplates:\n- {key: all, scope: tenant, schema: s.json}\n";
    [("app.yaml", manifest.to_owned()), ("s.json", schema)]
}
