// Runs the most important short tests on PostgreSQL. `npm run test:postgres` runs all tests there.
process.env["LATCHKEY_TEST_STORE"] = "postgres";
await import("../auth/users-writes.test.ts");
await import("../auth/auth-revocation.test.ts");
