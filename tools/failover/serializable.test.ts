import { certifyPostgres } from "../../tests/harness/postgres-contract.ts";

// Transactions that the server aborts to keep them serializable are tried again.
certifyPostgres("PostgreSQL, serializable", "-c default_transaction_isolation=serializable");
