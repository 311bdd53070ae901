// kind: syntax
break outer;
