// kind: syntax
// body-only
Please read the file and tell me what it says.
