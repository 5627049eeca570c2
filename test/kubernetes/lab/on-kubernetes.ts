/** Runs tests on the Kubernetes that is there: what `npm run test:kubernetes` has started, or else the stand-in. */
import { delimiter } from "node:path";
import { afterAll, beforeAll, describe } from "vitest";
import { permitted } from "../../permitted.js";
import { hasContainers } from "../kubelet/root-file-system.js";
import { deleteNamespace, makeNamespace, makeUser } from "./access.js";
import { type Ends, endAll } from "./ends.js";
import { type Backend, descriptions, type KubernetesLab } from "./lab.js";
import { joinLab } from "./remote-lab.js";
import { dropOptionsOfRunner } from "./runner-options.js";
import { startStandIn } from "./stand-in-lab.js";

/** The backend of this run. */
export const backend = (process.env["VICEROY_KUBERNETES_BACKEND"] ?? "stand-in") as Backend;

const possible =
  backend !== "stand-in" ||
  permitted("jobs on Kubernetes", "unshare with mount namespaces, of root or of users", hasContainers);

/** Returns the file that describes the lab of this process. Test files that run at the same time have different labs. */
export function ownLab(): string {
  const labs = process.env["VICEROY_KUBERNETES"]!.split(delimiter);
  const own = labs[Number(process.env["VITEST_POOL_ID"]) - 1];
  if (own === undefined) throw new Error(`there are ${labs.length} labs, and more processes of tests`);
  return own;
}

export interface LabOfTests extends KubernetesLab {
  /** A new namespace, which is deleted after the tests of the block. */
  namespace(labels?: Record<string, string>): Promise<string>;
  /** A user of a namespace with these rules alone. @returns the file of its kubeconfig */
  user(...args: Parameters<typeof makeUser> extends [unknown, ...infer Rest] ? Rest : never): Promise<string>;
}

/**
 * Describes tests that need Kubernetes. The title says which one they run on.
 * @param tests gets the lab, whose members exist while tests and hooks run
 */
export function onKubernetes(title: string, tests: (lab: () => LabOfTests) => void): void {
  describe.runIf(possible)(`${title} (${descriptions[backend]})`, () => {
    const ends: Ends = [];
    let lab: LabOfTests | undefined;
    beforeAll(async () => {
      dropOptionsOfRunner();
      const started = backend === "stand-in" ? await startStandIn(ends) : joinLab(ownLab());
      lab = Object.assign(started, {
        async namespace(labels: Record<string, string> = {}) {
          const name = await makeNamespace(started, labels);
          ends.push(() => deleteNamespace(started, name));
          return name;
        },
        user: (namespace: string, rules: Parameters<typeof makeUser>[2]) => makeUser(started, namespace, rules),
      });
    });
    afterAll(() => endAll(ends));
    tests(() => lab!);
  });
}
