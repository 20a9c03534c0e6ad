package embedded

const crashDirVariable = "EMBEDDED_DIS_CRASH_DIR"

func crashingChild(string) {}
