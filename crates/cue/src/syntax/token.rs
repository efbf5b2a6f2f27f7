//! The tokens of the language, their spelling in messages, and the binding strength of operators.

/// The kind of one token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Token {
    Illegal,
    Eof,
    Comment,
    /// `@name(…)`, the whole of it.
    Attribute,
    Ident,
    Int,
    Float,
    /// A string or bytes literal without interpolation, or one that is not closed.
    String,
    /// The part of a string up to and including `\(`.
    Interpolation,
    /// `_|_`
    Bottom,
    Add,
    Sub,
    Mul,
    Quo,
    And,
    Or,
    Land,
    Lor,
    Bind,
    Eql,
    Lss,
    Gtr,
    Not,
    Arrow,
    Neq,
    Leq,
    Geq,
    Mat,
    Nmat,
    LParen,
    LBrack,
    LBrace,
    Comma,
    Period,
    Ellipsis,
    RParen,
    RBrack,
    RBrace,
    Semicolon,
    Colon,
    Option,
    Tilde,
    If,
    Else,
    For,
    In,
    Let,
    Try,
    Fallback,
    Otherwise,
    Func,
    True,
    False,
    Null,
}

impl Token {
    /// How the token is named in messages and, for operators and keywords, written.
    pub fn text(self) -> &'static str {
        match self {
            Token::Illegal => "ILLEGAL",
            Token::Eof => "EOF",
            Token::Comment => "COMMENT",
            Token::Attribute => "ATTRIBUTE",
            Token::Ident => "IDENT",
            Token::Int => "INT",
            Token::Float => "FLOAT",
            Token::String => "STRING",
            Token::Interpolation => "INTERPOLATION",
            Token::Bottom => "_|_",
            Token::Add => "+",
            Token::Sub => "-",
            Token::Mul => "*",
            Token::Quo => "/",
            Token::And => "&",
            Token::Or => "|",
            Token::Land => "&&",
            Token::Lor => "||",
            Token::Bind => "=",
            Token::Eql => "==",
            Token::Lss => "<",
            Token::Gtr => ">",
            Token::Not => "!",
            Token::Arrow => "<-",
            Token::Neq => "!=",
            Token::Leq => "<=",
            Token::Geq => ">=",
            Token::Mat => "=~",
            Token::Nmat => "!~",
            Token::LParen => "(",
            Token::LBrack => "[",
            Token::LBrace => "{",
            Token::Comma => ",",
            Token::Period => ".",
            Token::Ellipsis => "...",
            Token::RParen => ")",
            Token::RBrack => "]",
            Token::RBrace => "}",
            Token::Semicolon => ";",
            Token::Colon => ":",
            Token::Option => "?",
            Token::Tilde => "~",
            Token::If => "if",
            Token::Else => "else",
            Token::For => "for",
            Token::In => "in",
            Token::Let => "let",
            Token::Try => "try",
            Token::Fallback => "fallback",
            Token::Otherwise => "otherwise",
            Token::Func => "func",
            Token::True => "true",
            Token::False => "false",
            Token::Null => "null",
        }
    }

    /// The keyword an identifier's text is, if it is one.
    pub fn keyword(text: &str) -> Option<Token> {
        Some(match text {
            "if" => Token::If,
            "else" => Token::Else,
            "for" => Token::For,
            "in" => Token::In,
            "let" => Token::Let,
            "try" => Token::Try,
            "fallback" => Token::Fallback,
            "otherwise" => Token::Otherwise,
            "func" => Token::Func,
            "true" => Token::True,
            "false" => Token::False,
            "null" => Token::Null,
            _ => return None,
        })
    }

    pub fn is_keyword(self) -> bool {
        matches!(
            self,
            Token::If
                | Token::Else
                | Token::For
                | Token::In
                | Token::Let
                | Token::Try
                | Token::Fallback
                | Token::Otherwise
                | Token::Func
                | Token::True
                | Token::False
                | Token::Null
        )
    }

    /// Whether the token stands for a class of texts, so that messages quote its text as well.
    pub fn is_literal(self) -> bool {
        matches!(
            self,
            Token::Ident
                | Token::Int
                | Token::Float
                | Token::String
                | Token::Interpolation
                | Token::Bottom
        )
    }

    /// Whether a newline after this token ends a declaration or an element.
    pub fn ends_line(self) -> bool {
        self.is_literal()
            || self.is_keyword()
            || matches!(
                self,
                Token::Attribute
                    | Token::Semicolon
                    | Token::Option
                    | Token::Ellipsis
                    | Token::RParen
                    | Token::RBrack
                    | Token::RBrace
            )
    }
}
