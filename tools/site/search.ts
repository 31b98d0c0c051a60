/** The search of the site: which words of a page count, and in which order the pages are shown. */
import type { DefaultTheme } from "vitepress";

/** A section of a page, as VitePress adds it to the index. */
type Section = Readonly<Record<string, string | undefined>>;

/**
 * Options of MiniSearch, the same for the index, the site and its test. The functions use nothing outside of
 * themselves, because VitePress sends their text to the browser.
 */
export const miniSearch = {
  options: {
    /** `also` has the other words of a section. */
    fields: ["title", "titles", "text", "also"],
    /** `render` puts the other words of a section in brackets before its text. */
    extractField: (section: Section, field: string) => {
      const [, also = "", text] = /^\s*(?:⟦([^⟧]*)⟧)?([^]*)$/.exec(section["text"] ?? "") ?? [];
      if (field === "also") return also;
      return field === "text" ? text : section[field];
    },
    /** Leaves out words that every question has. */
    processTerm: (term: string) =>
      /^(?:a|an|the|of|to|in|on|for|with|and|or|do|does|how|i|my|is|it|from|can|what|where|we)$/i.test(term)
        ? null
        : term.toLowerCase(),
  },
  searchOptions: {
    boost: { title: 4, also: 4, text: 2, titles: 1 },
    prefix: (term: string) => term.length > 2,
    fuzzy: (term: string) => (term.length > 5 ? 0.2 : false),
    /** Shows the pages for reviewers and developers last, and the index after the page that it names. */
    boostDocument: (id: unknown) => {
      if (/\/(?:decisions\/|asvs|assurance|names|ARCHITECTURE|CONTRIBUTING|SECURITY)/.test(String(id))) return 1e-6;
      return /^\/(?:docs\/README\.html)?(?:#|$)/.test(String(id)) ? 0.1 : 1;
    },
  },
};

/** Adds the other words of a page or a section, from a comment below its title, to the text that is searched. */
export const render: DefaultTheme.LocalSearchOptions["_render"] = (source, environment, markdown) =>
  markdown
    .render(source, environment)
    .replaceAll(/<!-- Also: (.*?) -->/g, (_comment, words: string) => `<p>⟦${words}⟧</p>`);
