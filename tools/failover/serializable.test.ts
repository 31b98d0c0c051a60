import { certifyPostgres } from "../../tests/harness/postgres-contract.ts";

// What the server aborts for the sake of serializability is tried again.
certifyPostgres("PostgreSQL, serializable", "-c default_transaction_isolation=serializable");
