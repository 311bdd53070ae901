// kind: runtime
new ShadowRealm().evaluate("1");
