/**
 * `npm run bench:compile`: compiles 100 and 1,000 interfaces (14,000 fields) in a project with 200 files of user code. Each compiler is a
 * process of its own. Then compiles an unchanged tree, and one edited file in watch mode.
 */
import { mkdirSync } from "node:fs";
import path from "node:path";
import { benchmark, cacheDir, compare, runInterleaved } from "../harness/index.js";
import { project } from "./project.js";
import { subjectsIn, writeProject } from "./subjects.js";

const reference = "buf generate, protoc-gen-es";
const columns = [{ metric: "ms", title: "ms", ratio: true }];

await benchmark({ name: "compile", title: "Compile schemas", needs: ["viceroy"] }, async ({ options, wanted }) => {
  const sections = [];
  for (const count of options.quick ? [20] : [100, 1000]) {
    const directory = path.join(cacheDir("compile"), String(count));
    mkdirSync(directory, { recursive: true });
    writeProject(directory, project(count));
    const subjects = Object.entries(subjectsIn(directory)).filter(([name]) => wanted(name));
    const samples = await runInterleaved(
      subjects.map(([name, run]) => ({ name, run })),
      options,
    );
    const table = compare(samples, { reference, columns, subject: "compiler" });
    sections.push({ title: `${count} interfaces, ${14 * count} fields`, samples, table });
  }
  return sections;
});
