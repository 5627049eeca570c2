/** The tasks of a job as `viceroy job manifest` prints them: without the files of Viceroy and the secrets, which nobody reads. */
import type { SkyPilotSpec } from "../skypilot-spec.js";
import { planClusters } from "./plan-clusters.js";
import { skyPilotTask } from "./task.js";

/** The id of a run that there is not yet. */
const noRun = "00000000-0000-0000-0000-000000000000";

const note = "The driver writes this when it submits the job.";

/** Returns the task of each cluster, in the order in which they are launched. */
export function taskManifest(spec: SkyPilotSpec): object[] {
  const empty = Buffer.from(note);
  return planClusters(spec, noRun).map((plan) =>
    skyPilotTask(spec, plan, {
      applyId: noRun,
      files: { program: empty, archive: empty, order: empty },
      secrets: Object.fromEntries(spec.secrets.map((name) => [name, note])),
      hostSecrets: note,
    }),
  );
}
