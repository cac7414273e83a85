package db_test

func openAndCheck(string) error { return nil }
func crash(string) error { return nil }
