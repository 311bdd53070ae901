// kind: denied
import "";
