/**
 * The documentation site: the pages of docs/, with a sidebar made from the folders and a search that works offline.
 * `npm run docs:dev` shows the site while pages are edited; `npm run docs:build` writes it to docs/.vitepress/dist.
 */
import { type ConfigEnv, defineConfig } from "vitepress";
import { hasApiReference, sidebar } from "./sidebar.js";
import { slugOf } from "./slug.js";

export default ({ command }: ConfigEnv) =>
  defineConfig({
    title: "Viceroy",
    description: "Schema-first actor RPC for TypeScript",
    lang: "en",
    // A build without the API reference would publish links to pages that are missing.
    themeConfig: {
      nav: [
        { text: "Tutorial", link: "/tutorial/getting-started" },
        { text: "How-to guides", link: "/how-to/" },
        { text: "Reference", link: "/#reference" },
        ...(hasApiReference() ? [{ text: "API", link: "/api/" }] : []),
        { text: "Architecture", link: "/architecture" },
      ],
      sidebar: sidebar({ apiRequired: command === "build" && process.env["VICEROY_DOCS_API"] !== "optional" }),
      outline: [2, 3],
      search: { provider: "local" },
    },
    // The sidebars and the list of pages are one file, instead of a part of every page.
    metaChunk: true,
    markdown: { anchor: { slugify: slugOf } },
    // The index of the search is one chunk, which is loaded when somebody searches.
    vite: { build: { chunkSizeWarningLimit: 4096 } },
  });
