// kind: syntax
super.run(new.target);
