// kind: denied
import "blob:null/6d7f0b1c-0000-4000-8000-000000000000";
