// Runs the most valuable short tests on PostgreSQL. `npm run test:postgres` runs all of them there.
process.env["LATCHKEY_TEST_STORE"] = "postgres";
await import("../auth/users-writes.test.ts");
await import("../auth/auth-revocation.test.ts");
