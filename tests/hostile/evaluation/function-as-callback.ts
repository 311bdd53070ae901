// kind: denied
["return 1"].map(Function as never);
