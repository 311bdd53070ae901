// kind: denied
import "\ud800";
