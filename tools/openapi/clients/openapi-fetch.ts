// A front end with the types of openapi-typescript.
import createClient from "openapi-fetch";
import type { components, paths } from "./generated/openapi-typescript.d.ts";

type Loan = components["schemas"]["Loan"];

const { BASE: baseUrl = "" } = process.env;
const client = createClient<paths>({ baseUrl });

const body = { name: "Ann", copy: 1, day: "2026-02-01" };
const made = await client.POST("/loans", { body });
const name: string | undefined = made.data?.name;

const again = await client.POST("/loans", { body });
let free = "";
if (again.error?.code === "loan_overlaps") free = again.error.free_from;
// @ts-expect-error -- no operation on loans can end in this code
const isOther = again.error?.code === "last_admin";

const listed = await client.GET("/loans", { params: { query: { name: "Ann", sort: ["-day"] } } });
const all: readonly Loan[] = listed.data ?? [];

const reminded = await client.POST("/reminders", { body: { loans: [1] } });
const sent: number | undefined = reminded.data?.sent;

process.stdout.write(JSON.stringify({ name, free, isOther, names: all.map((each) => each.name), sent }));
