/**
 * The process that holds an API server of SkyPilot with a Kubernetes cluster of two nodes for `npm run test:skypilot -- --cluster`:
 * `main.ts <programs of Kubernetes> <Python> <image> <programs of Debian>`. It prints a line of JSON when everything is ready, and takes everything down when its standard input ends.
 */
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parse, stringify } from "yaml";
import { RunningProgram } from "../../kubernetes/cluster/programs.js";
import { startClusterLab } from "../../kubernetes/lab/cluster-lab.js";
import { holdUntilInputEnds } from "../../kubernetes/lab/hold.js";
import { startServerAt } from "./real-server.js";

const [programs, python, image, debian] = process.argv.slice(2) as [string, string, string, string];

await holdUntilInputEnds("vs-", async (folder, ends) => {
  const lab = await startClusterLab(programs, folder, ends, [{ name: "viceroy.test/skypilot", file: image }]);
  const { through, description } = lab;
  const kubeconfig = description.kubeconfig!;
  const { clusters } = parse(readFileSync(kubeconfig, "utf8")) as { clusters: [{ cluster: { server: string } }] };
  const control = new URL(clusters[0].cluster.server).hostname;
  const names = new RunningProgram({
    through,
    command: [
      process.execPath,
      fileURLToPath(new URL("pod-names.mjs", import.meta.url)),
      control,
      description.kubectl!,
      kubeconfig,
    ],
    folder,
    name: "pod-names",
  });
  ends.push(() => names.stop());
  const home = path.join(folder, "home");
  writeHome(home, kubeconfig, control);
  const server = await startServerAt({ python, home, port: 46_580, through, env: environment() });
  ends.push(() => server.close());
  return { url: server.url, through, kubectl: [description.kubectl!, "--kubeconfig", kubeconfig] };
});

/** Returns the variables with which the server finds what it starts. */
function environment(): NodeJS.ProcessEnv {
  const binaries = ["usr/bin", "bin"].map((name) => path.join(debian, name));
  const libraries = ["lib", "usr/lib"].map((name) => path.join(debian, name, "x86_64-linux-gnu"));
  return {
    PATH: [path.dirname(python), programs, ...binaries, process.env["PATH"]].join(":"),
    LD_LIBRARY_PATH: libraries.join(":"),
  };
}

/** Writes the home of the server: the way to the cluster, what its pods need, and the wheel of SkyPilot, which the server cannot build without a network. */
function writeHome(home: string, kubeconfig: string, control: string): void {
  mkdirSync(path.join(home, ".kube"), { recursive: true });
  mkdirSync(path.join(home, ".sky"));
  copyFileSync(kubeconfig, path.join(home, ".kube/config"));
  const spec = {
    dnsPolicy: "None",
    dnsConfig: { nameservers: [control], searches: ["default.svc.cluster.local"] },
    containers: [{ imagePullPolicy: "IfNotPresent" }],
  };
  const config = { kubernetes: { provision_timeout: 600, pod_config: { spec } } };
  writeFileSync(path.join(home, ".sky/config.yaml"), stringify(config));
  const build = "from sky.backends import wheel_utils; wheel_utils.build_sky_wheel()";
  execFileSync(python, ["-c", build], {
    env: { ...process.env, HOME: home, SKYPILOT_DISABLE_USAGE_COLLECTION: "1" },
    stdio: ["ignore", "ignore", "pipe"],
  });
}
