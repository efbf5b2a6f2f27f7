//! A JSON value in the making: fields keep their order, and a keyword that is said twice is not lost.

use data::Number;
use data::write::Writer;

#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Number { text: String, is_int: bool },
    Text(String),
    List(Vec<Json>),
    Map(Object),
}

impl Json {
    pub fn count(n: usize) -> Json {
        Json::Number {
            text: n.to_string(),
            is_int: true,
        }
    }

    pub fn text(text: impl Into<String>) -> Json {
        Json::Text(text.into())
    }

    /// Depth is bounded by whoever made the value.
    pub fn write(&self, out: &mut impl Writer) {
        match self {
            Json::Null => out.null(),
            Json::Bool(value) => out.bool(*value),
            Json::Number { text, is_int } => out.number(Number {
                text,
                is_int: *is_int,
            }),
            Json::Text(text) => out.string(text),
            Json::List(items) => {
                out.begin_list();
                for item in items {
                    item.write(out);
                }
                out.end_list();
            }
            Json::Map(object) => {
                out.begin_map();
                for (key, value) in &object.0 {
                    out.key(key);
                    value.write(out);
                }
                out.end_map();
            }
        }
    }
}

/// A schema: keywords in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object(pub Vec<(String, Json)>);

impl Object {
    pub fn of(key: &str, value: Json) -> Object {
        Object(vec![(key.to_owned(), value)])
    }

    pub fn get(&self, key: &str) -> Option<&Json> {
        let found = self.0.iter().find(|(known, _)| known == key);
        found.map(|(_, value)| value)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Says one keyword. Where it is said already, both must hold.
    pub fn set(&mut self, key: &str, value: Json) {
        match self.get(key) {
            None => self.0.push((key.to_owned(), value)),
            Some(known) if *known == value => {}
            Some(_) => self.also(Object::of(key, value)),
        }
    }

    /// Says all that another schema says.
    pub fn merge(&mut self, other: Object) {
        let clash = |(key, value): &(String, Json)| {
            self.get(key).is_some_and(|known| known != value) && key != "allOf"
        };
        match other.0.iter().any(clash) {
            true => self.also(other),
            false => {
                for (key, value) in other.0 {
                    self.set(&key, value);
                }
            }
        }
    }

    fn also(&mut self, other: Object) {
        let known = self.0.iter_mut().find(|(key, _)| key == "allOf");
        match known {
            Some((_, Json::List(all))) => all.push(Json::Map(other)),
            _ => {
                let all = Json::List(vec![Json::Map(other)]);
                self.0.push(("allOf".to_owned(), all));
            }
        }
    }
}

/// Takes the events of a value and makes JSON of them.
#[derive(Debug, Default)]
pub struct Builder {
    open: Vec<(Json, Option<String>)>,
    done: Option<Json>,
}

impl Builder {
    pub fn finish(self) -> Option<Json> {
        self.done
    }

    fn add(&mut self, value: Json) {
        match self.open.last_mut() {
            None => self.done = Some(value),
            Some((Json::List(items), _)) => items.push(value),
            Some((Json::Map(object), key)) => {
                object.0.push((key.take().unwrap_or_default(), value));
            }
            Some(_) => {}
        }
    }

    fn end(&mut self) {
        if let Some((value, _)) = self.open.pop() {
            self.add(value);
        }
    }
}

impl Writer for Builder {
    fn null(&mut self) {
        self.add(Json::Null);
    }

    fn bool(&mut self, value: bool) {
        self.add(Json::Bool(value));
    }

    fn number(&mut self, number: Number<'_>) {
        self.add(Json::Number {
            text: number.text.to_owned(),
            is_int: number.is_int,
        });
    }

    fn string(&mut self, value: &str) {
        self.add(Json::text(value));
    }

    fn bytes(&mut self, base64: &str) {
        self.add(Json::text(base64));
    }

    fn begin_list(&mut self) {
        self.open.push((Json::List(Vec::new()), None));
    }

    fn end_list(&mut self) {
        self.end();
    }

    fn begin_map(&mut self) {
        self.open.push((Json::Map(Object::default()), None));
    }

    fn key(&mut self, name: &str) {
        if let Some((_, key)) = self.open.last_mut() {
            *key = Some(name.to_owned());
        }
    }

    fn end_map(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_keyword_said_twice_holds_twice() {
        let mut object = Object::of("pattern", Json::text("a"));
        object.set("pattern", Json::text("a"));
        object.set("pattern", Json::text("b"));
        object.set("pattern", Json::text("c"));
        let all = object.get("allOf").cloned();
        let want = ["b", "c"].map(|p| Json::Map(Object::of("pattern", Json::text(p))));
        assert_eq!(all, Some(Json::List(want.to_vec())));
    }
}
