// kind: runtime
\u0065v\u{61}l("1");
