/**
 * Makes the site of the docs: `npm run verify -- docs`. Copies the pages together with the files that they link to
 * (examples, deployment, the pages of the repository), so that every link also works in the site.
 */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { build } from "vitepress";

const here = import.meta.dirname;
const root = path.join(here, "../..");
const pages = path.join(here, "generated/pages");

rmSync(pages, { recursive: true, force: true });
mkdirSync(path.join(pages, "public"), { recursive: true });
for (const page of ["ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "docs"])
  cpSync(path.join(root, page), path.join(pages, page), { recursive: true });
for (const files of ["examples", "deploy", "compose.yaml"])
  cpSync(path.join(root, files), path.join(pages, "public", files), { recursive: true });
const index = readFileSync(path.join(root, "docs/README.md"), "utf8");
writeFileSync(path.join(pages, "index.md"), index.replaceAll(/\]\((?![a-z]+:|#)/g, "](docs/"));

await build(here);
