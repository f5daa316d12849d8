"""The door for programs: executions over HTTP. Needs the extra `api` (Django REST framework).

    path("api/saga/", include("saga_app.api.urls"))

| request | permission | answers |
|---|---|---|
| `GET v1/executions/` (`saga`, `status`, `stuck_reason`, `key`; `cursor`, `page_size`) | `view_execution` | 200 |
| `GET v1/executions/{id}/` | `view_execution` | 200, 404 |
| `GET v1/executions/{id}/steps/` (`after`, `page_size`, `include=arguments,output,…`) | `view_execution` | 200, 404 |
| `GET v1/executions/{id}/events/` (`after`, `page_size`) | `view_execution` | 200, 404 |
| `GET v1/executions/{id}/signals/` (`after`, `page_size`, `include=payload`) | `view_execution` | 200, 404 |
| `GET v1/executions/{id}/plan/`, `…/timeline/` (`offset`), `…/state/` (`at`, `offset`) | `view_execution` | 200, 404 |
| `GET v1/sagas/`, `v1/sagas/{name}/` (`revision`) | `view_execution` | 200, 404 |
| `GET v1/groups/` (what is stuck, by its cause), `v1/workers/` | `view_execution` | 200 |
| `GET v1/health/` | `view_execution` | 200; 503 where something is due that nobody takes |
| `POST v1/executions/` `{saga, input, key}` | `start_execution` | 201; 200 when the key named one; 400, 409 |
| `POST v1/executions/{id}/{verb}/` | `{verb}_execution` | 200; 400, 404, 409 |

| verb | takes, besides `reason` |
|---|---|
| `resume`, `abandon`, `unwind` | `version` |
| `skip` | `version`, `path`, `happened`, `output` |
| `resolve` | `version`, `path` |
| `move` | `version`, `revision` |
| `cancel`, `suspend` | `version`, if it matters |
| `rerun`, `fork` | `key`; fork also `path`; 201 with the new execution |
| `signal` | `name`, `payload`, `key` |
| `approve`, `reject` | `gate`, `values`, `key`, `version`; `view_execution`, and what the approval itself asks for |

Each may also answer 401 or 403 (before the body is read), 405, 406, 413, 415. Every error is `application/problem+json`
and has changed nothing. Who may authenticate, and how, stays the host's: `DEFAULT_AUTHENTICATION_CLASSES`.
"""
