// kind: runtime
throw new Error("\u0000\u001b[31mred\u001b[0m\u2028\u202e\ud800\r\n{\"ok\":true}");
