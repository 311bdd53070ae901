//! Generated scripts: reads, writes, throws, conditions, races and timers.

/// A seeded generator of scripts.
pub struct Scripts(u64);

impl Scripts {
    pub fn seeded(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }

    /// A script of a few statements.
    pub fn script(&mut self) -> String {
        let mut source = String::from("const out = [];\n");
        for at in 0..3 + self.below(6) {
            source.push_str(&self.statement(at));
            source.push('\n');
        }
        source.push_str("return out;");
        source
    }

    fn key(&mut self) -> String {
        match self.below(8) {
            0 => "args[0]".to_owned(),
            number => format!("\"k{}\"", number % 5),
        }
    }

    fn statement(&mut self, at: u64) -> String {
        let (key, other) = (self.key(), self.key());
        let ms = self.below(12);
        match self.below(24) {
            0..=4 => format!("out.push(await tools.s.read({{ key: {key}, ms: {ms} }}));"),
            5 | 6 => format!(
                "const r{at} = await callTool(\"s:read\", {{ key: {key} }});\nif (!r{at}.success) throw r{at}.error;\nout.push(r{at}.result);"
            ),
            7 => format!(
                "const d{at} = await tools.s.read({{ key: {key} }});\nout.push(await tools.s.read({{ key: d{at}.next, ms: {ms} }}));"
            ),
            8 | 9 => format!("out.push(await tools.s.write({{ key: {key}, value: {at} }}));"),
            10 => format!(
                "if (JSON.stringify(out).length % 2) out.push(await tools.s.write({{ key: {key}, value: \"c{at}\" }}));"
            ),
            11 => format!(
                "if (JSON.stringify(out).length % 3 === 0) out.push(await tools.s.read({{ key: {key} }}));"
            ),
            12 => format!("if (JSON.stringify(out).length % 7 === 0) throw new Error(\"thrown {at}\");"),
            13 => "await new Promise((done) => setTimeout(done, 3));".to_owned(),
            14 => format!(
                "out.push(await Promise.race([tools.s.read({{ key: {key}, ms: 150 }}), new Promise((done) => setTimeout(() => done(\"late\"), 25))]));"
            ),
            15 => format!(
                "out.push(await Promise.all([{key}, {other}].map((key) => tools.s.read({{ key, ms: {ms} }}))));"
            ),
            16 => format!(
                "const o{at} = [];\nawait Promise.all([[{key}, 120], [{other}, 1]].map(async ([key, ms]) => {{ await tools.s.read({{ key, ms }}); o{at}.push(key); }}));\nout.push(o{at});"
            ),
            17 => "for (const key of (await tools.s.list({})).keys) out.push(await tools.s.read({ key }));".to_owned(),
            18 => format!(
                "try {{ out.push(await tools.s.broken({{ key: {key} }})); out.push(await tools.s.read({{ key: {other} }})); }} catch (e) {{ out.push(e.kind ?? e.message); }}"
            ),
            19 => format!(
                "const g{at} = async (key) => {{ try {{ return await tools.s.read({{ key }}) }} catch {{ return null }} }};\nout.push(await g{at}({key}), await g{at}({other}));"
            ),
            20 => format!("console.log(\"at {at}\", out.length);"),
            21 => format!(
                "try {{ JSON.parse(\"{{\"); out.push(await tools.s.read({{ key: {key} }})); }} catch {{ await tools.s.write({{ key: {key}, value: 1 }}); }}"
            ),
            22 => format!(
                "const w{at} = tools.s.write({{ key: {key}, value: 2 }});\nawait w{at};\nout.push(await tools.s.read({{ key: {key} }}));"
            ),
            _ => format!(
                "const [x{at}] = await Promise.all([callTool(\"s:broken\", {{ key: {key} }}), tools.s.read({{ key: {other} }})]);\nout.push(x{at}.success);"
            ),
        }
    }
}
