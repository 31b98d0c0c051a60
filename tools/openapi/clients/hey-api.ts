// A front end with the client of Hey API.
import { client } from "./generated/hey-api/client.gen.ts";
import { createLoan, listLoans, postReminders } from "./generated/hey-api/sdk.gen.ts";
import type { Loan } from "./generated/hey-api/types.gen.ts";

client.setConfig({ baseUrl: process.env["BASE"] ?? "" });

const body = { name: "Ann", copy: 1, day: "2026-02-01" };
const made = await createLoan({ body });
const name: string | undefined = made.data?.name;

const again = await createLoan({ body });
let free = "";
if (again.error?.code === "loan_overlaps") free = again.error.free_from;
// @ts-expect-error -- no operation on loans can end in this code
const isOther = again.error?.code === "last_admin";

const listed = await listLoans({ query: { name: "Ann", sort: ["-day"] } });
const all: readonly Loan[] = listed.data ?? [];

const reminded = await postReminders({ body: { loans: [1] } });
const sent: number | undefined = reminded.data?.sent;

process.stdout.write(JSON.stringify({ name, free, isOther, names: all.map((each) => each.name), sent }));
