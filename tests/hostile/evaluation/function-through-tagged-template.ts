// kind: denied
Function`return 1``x`;
