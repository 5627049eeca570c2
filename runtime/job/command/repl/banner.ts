/** Makes the first lines of the prompt of a job: they name the job, its hosts, the published meshes, and the known names. */
import { errorMessage } from "../../../../shared/text/error-message.js";
import type { Job } from "../../job.js";
import type { PromptNames } from "./names.js";

/** Never rejects. */
export async function bannerOf(job: Job, names: PromptNames, isReadOnly: boolean): Promise<string> {
  const { provider } = job.toJSON() ?? {};
  const hosts = Object.keys(job.meshes).map((mesh) => `${mesh} (${names.job.hosts[mesh]!.size})`);
  const published = await names.job.published().then(
    (found) => (found.length === 0 ? "nothing" : found.map((name) => JSON.stringify(name)).join(", ")),
    (error) => `not known: ${errorMessage(error)}`,
  );
  const generated = Object.keys(names.generated);
  return [
    `job "${job.name}"${provider === undefined ? "" : ` of provider ${provider}`} runs as ${job.applyId}${isReadOnly ? ", attached read-only" : ""}`,
    `hosts      ${hosts.join(", ")}`,
    `published  ${published}`,
    `names      ${[...Object.keys(names.job), "lookup", "all of viceroy"].join(", ")}`,
    ...(generated.length === 0 ? [] : [`generated  ${generated.join(", ")}`]),
    ".exit or Ctrl-D leaves the job running",
  ].join("\n");
}
