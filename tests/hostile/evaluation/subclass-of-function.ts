// kind: denied
class Code extends Function {}
new Code("return 1");
