/**
 * The credentials of jobs, as one module of its own: drivers, keepers, issuers and hosts of jobs load it when they need it.
 */
export { hostCertifier } from "./certify-host.js";
export { readSecrets } from "./enrolment-secret.js";
export { enrolHost } from "./host-enrolment.js";
export {
  addSecrets,
  createCredentials,
  type DriverCredentials,
  type DriverRole,
  issueController,
  openDriverCredentials,
} from "./job-credentials.js";
export { type CalledHost, isStranger, PodIssuer } from "./pod-issuer.js";
export { serveIssuer } from "./serve-issuer.js";
export { issueShared, type SharedCredentials, type SharedWith, saveShared, sharedNames } from "./shared-credentials.js";
