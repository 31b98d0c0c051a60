import { certifyPostgres } from "../../tests/harness/postgres-contract.ts";

// At this isolation level, the server aborts some concurrent transactions. The store must try them again.
certifyPostgres("PostgreSQL, serializable", "-c default_transaction_isolation=serializable");
