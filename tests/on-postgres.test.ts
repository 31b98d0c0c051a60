// The service on PostgreSQL, by tests that say much in little time. `LATCHKEY_TEST_STORE=postgres npm test` runs all of them there.
process.env["LATCHKEY_TEST_STORE"] = "postgres";
await import("./users-writes.test.ts");
await import("./auth-revocation.test.ts");
