import { readFileSync } from "node:fs";
import path from "node:path";
import { defineConfig, type DefaultTheme } from "vitepress";
import { miniSearch, render } from "../search.ts";

const docs = path.join(import.meta.dirname, "../../../docs");

/** The section of the index with the pages that are in the second menu. */
const SECOND = "Background";

/** Returns the pages in the order of the index of the docs, each once in its section. */
function readMenu(): DefaultTheme.SidebarItem[] {
  const [, ...kinds] = readFileSync(path.join(docs, "README.md"), "utf8").split(/^## /m);
  return kinds.map((kind) => {
    const pages = new Set([...kind.matchAll(/\]\(([^):#]+)\.md(?:#[^)]*)?\)/g)].map(([, page = ""]) => page));
    const items = [...pages].map((page) => ({ text: readTitle(page), link: `/docs/${page}` }));
    return { text: kind.slice(0, kind.indexOf("\n")), items };
  });
}

/** Returns the decision records, in their order. */
function readDecisions(): DefaultTheme.SidebarItem {
  const index = readFileSync(path.join(docs, "decisions/README.md"), "utf8");
  const items = [...index.matchAll(/\]\((\d{4}-[^)]+)\.md\)/g)].map(([, page = ""]) => ({
    text: readTitle(`decisions/${page}`),
    link: `/docs/decisions/${page}`,
  }));
  return { text: "Decision records", items };
}

function readTitle(page: string): string {
  const [, title = page] = /^# (.*)$/m.exec(readFileSync(path.join(docs, `${page}.md`), "utf8")) ?? [];
  return title.replaceAll("`", "");
}

const menu = readMenu();
const second = menu.find(({ text }) => text === SECOND) ?? { items: [] };

// Links with these extensions lead to files, which are copied next to the pages.
process.env["VITE_EXTRA_EXTENSIONS"] = "sql,service,ts,yaml,json";

// oxlint-disable-next-line import/no-default-export -- what VitePress asks for
export default defineConfig({
  title: "Latchkey",
  description: "A resource-oriented HTTP API with pluggable authentication, and the toolkit it is made of",
  lang: "en",
  head: [["link", { rel: "icon", href: "data:," }]],
  srcDir: "generated/pages",
  outDir: "generated/site",
  cacheDir: "generated/cache",
  ignoreDeadLinks: [/\/(?:examples|deploy)\//, /compose/],
  markdown: { languageAlias: { haproxy: "nginx" } },
  themeConfig: {
    nav: [{ text: SECOND, items: (second.items ?? []).map(({ text = "", link = "" }) => ({ text, link })) }],
    sidebar: {
      "/": menu.filter((kind) => kind !== second),
      ...Object.fromEntries(
        ["decisions/", "names", "assurance", "asvs"].map((page) => [`/docs/${page}`, [second, readDecisions()]]),
      ),
    },
    outline: [2, 3],
    search: { provider: "local", options: { _render: render, miniSearch } },
  },
});
