// From a file, a browser may not fetch pages for the excerpts of search results; their titles need no fetching.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

// What scrolls sideways can be reached with the keyboard.
function reachable() {
  for (const box of document.querySelectorAll("pre, .table-wrapper, math[display=block]")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}
addEventListener("DOMContentLoaded", reachable);
addEventListener("resize", reachable);

// A link to a claim opens it.
function opened() {
  const claim = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (claim?.tagName === "DETAILS") claim.open = true;
}
addEventListener("DOMContentLoaded", opened);
addEventListener("hashchange", opened);
