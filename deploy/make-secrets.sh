#!/bin/sh
# Makes what compose.yaml needs beside it: a password for PostgreSQL, an empty file for every other secret, and a
# settings file. What is there already is left as it is. An empty file means that a secret is not set.
set -eu
cd "$(dirname "$0")"

# Containers run as other users and read the files themselves; the folder keeps everybody else out.
umask 022
mkdir -p secrets config
chmod 700 secrets

if [ ! -s secrets/postgres_password ]; then
    password=$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')
    printf '%s\n' "$password" > secrets/postgres_password
    printf 'postgresql://gaplight:%s@postgres/gaplight\n' "$password" > secrets/database_url
fi
for name in slack_bot_token slack_app_token slack_signing_secret discord_token github_token llm_api_key \
    embedding_api_key vectors_api_key; do
    [ -e "secrets/$name" ] || : > "secrets/$name"
done
[ -e config/gaplight.toml ] || cp ../bot/data/gaplight.toml config/gaplight.toml
echo "Put the tokens that you have into deploy/secrets/, one a file, and edit deploy/config/gaplight.toml."
