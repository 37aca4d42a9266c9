# The Python of the system, whose packages the tests need, and not one that lies before it in the path.
find_program(TOPK_SYSTEM_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(TOPK_SYSTEM_PYTHON NAMES python3)
