/** Commits to the given database file once a millisecond: the same load for every server that reads the file. */
import { DatabaseSync } from "node:sqlite";

const database = new DatabaseSync(process.argv[2] ?? "", { timeout: 1000 });
database.exec("PRAGMA synchronous = OFF; CREATE TABLE IF NOT EXISTS bench_commits (number INTEGER)");
const commit = database.prepare("REPLACE INTO bench_commits (rowid, number) VALUES (1, ?)");
let number = 0;
setInterval(() => commit.run(number++), 1);
console.log("committing");
