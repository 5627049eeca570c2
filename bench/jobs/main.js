/**
 * `npm run bench:jobs`: the time until the hosts of a job answer. Each case is a file of this folder, which exports `measure`.
 * A case that needs what this machine lacks, such as Slurm, is left out, and says so.
 */
import { benchmark } from "../harness/index.js";
import { prepareProgram } from "../viceroy/prepare.js";

/** The names of the files, which `--only` selects. */
const cases = ["slurm", "kubernetes", "ssh-start", "process-kill", "process-reattach"];

await benchmark({ name: "jobs", title: "Jobs", rounds: 5, needs: ["viceroy"] }, async (context) => {
  await prepareProgram();
  const sections = [];
  for (const name of cases.filter(context.wanted)) {
    const { measure } = await import(`./${name}.js`);
    sections.push(...(await measure(context)));
  }
  return sections;
});
