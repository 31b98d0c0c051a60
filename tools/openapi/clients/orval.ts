// A front end with the fetch client of orval.
import { createLoan, listLoans, postReminders, type Loan } from "./generated/orval.ts";

const body = { name: "Ann", copy: 1, day: "2026-02-01" };
const made = await createLoan(body);
const name: string | undefined = made.status === 201 ? made.data.name : undefined;

const again = await createLoan(body);
let free = "";
if (again.status === 409 && again.data.code === "loan_overlaps") free = again.data.free_from;
// @ts-expect-error -- no operation on loans can end in this code
const isOther = again.status === 409 && again.data.code === "last_admin";

const listed = await listLoans({ name: "Ann", sort: ["-day"] });
const all: readonly Loan[] = listed.status === 200 ? listed.data : [];

const reminded = await postReminders({ loans: [1] });
const sent: number | undefined = reminded.status === 200 ? reminded.data.sent : undefined;

process.stdout.write(JSON.stringify({ name, free, isOther, names: all.map((each) => each.name), sent }));
