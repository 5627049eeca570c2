/** Runtime environments: what the processes of a job or a task need before they can run. */
export { mergeEnvironments } from "./merge-environments.js";
export { prepareEnvironment, taskEnvironmentOf } from "./prepare-environment.js";
export { RuntimeEnv, type RuntimeEnvOptions, runtimeEnvOf } from "./runtime-env.js";
