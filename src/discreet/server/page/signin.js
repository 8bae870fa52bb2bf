// Signing in and out, and the pages of each role.
import { $, call, nameDataset, told } from "./dom.js";

const FIRST = { owner: "ask", analyst: "ask", steward: "budget", auditor: "budget" };

// A link with data-roles is for these only; one without is for everybody.
function offer(role) {
  for (const link of document.querySelectorAll("nav a[data-roles]")) link.hidden = !link.dataset.roles.split(" ").includes(role);
}

// Who has signed in; null where nobody has, after asking for a key where one is needed.
export async function signedIn({ needed }) {
  let who = null;
  try {
    who = await call("/session");
  } catch (error) {
    if (error.status !== 401) $("sign-in-told").textContent = told(error);
  }
  $("sign-in").hidden = who !== null || !needed;
  $("sign-out").hidden = !who?.signs_out;
  $("who").textContent = who ? [...new Set([who.name, who.role])].join(", ") : "";
  if (who) {
    offer(who.role);
    nameDataset(who);
  }
  return who;
}

// The link that is printed on the owner's terminal: #sign-in/TOKEN. The token leaves the address before anything else happens.
export async function followLink() {
  const [, token] = location.hash.match(/^#sign-in\/([0-9a-f]+)$/) ?? [];
  if (!token) return;
  history.replaceState(null, "", location.pathname);
  try {
    await call("/session", { method: "POST", body: { link: token } });
  } catch (error) {
    $("sign-in-told").textContent = told(error);
  }
}

// The page that was asked for, or the first one that the role has.
export function pageFor(role, asked) {
  const link = document.querySelector(`nav a[href="#${CSS.escape(asked)}"]`);
  return link && !link.hidden ? asked : (FIRST[role] ?? "transparency");
}

export function offerSignIn(go) {
  $("sign-in-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    $("sign-in-told").textContent = "";
    try {
      await call("/session", { method: "POST", body: { key: $("key").value } });
      $("key").value = "";
      go();
    } catch (error) {
      $("sign-in-told").textContent = told(error);
    }
  });
  $("sign-out").addEventListener("click", async () => {
    await call("/session", { method: "DELETE" });
    location.reload(); // and nothing that was shown stays
  });
}
