/**
 * Builds the documentation site to docs/.vitepress/dist: `npm run docs:build`. Dead links fail the build. `verify` runs
 * this script in parallel to other steps, with `--with-written-api`, because it has written the pages of the API reference
 * before. test/docs then opens the site in a browser.
 */
import { readFileSync } from "node:fs";
import path from "node:path";
import { allOf, root, run, tool } from "./steps.mjs";

const { scripts } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
const generates = "docs:api" in scripts;
// If no script generates the API reference, the site is built without it.
if (!generates) process.env.VICEROY_DOCS_API = "optional";
process.exitCode = await allOf([
  () => (generates && !process.argv.includes("--with-written-api") ? run("npm", ["run", "docs:api"]) : 0),
  () => tool("vitepress/bin/vitepress.js", "build", "docs"),
]);
