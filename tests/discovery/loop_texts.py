"""A small handbook, questions that it does not answer, and sources that do or do not."""

HANDBOOK = {
    "vpn.md": "# VPN\n\nInstall the client and sign in with your badge number.\n\n## Mobile\n\nUse the phone profile.\n",
    "mail.md": "# Mail\n\nThe mailbox holds ten gigabytes. Old letters move to the archive after a year.\n",
    "print.md": "# Printing\n\nChoose the queue on your floor and hold your badge to the printer.\n",
    "leave.md": "# Leave\n\nAsk your lead for days off two weeks ahead in the portal.\n",
    "travel.md": "# Travel\n\nBook trains in the travel portal and keep every receipt for the refund.\n",
}
KEY_QUESTION = "How do I rotate the signing key of the billing service?"
KEY_WORDING = "What are the steps for rotating the billing service signing key?"
KEY_GUIDE = """# Rotating the signing key of the billing service

To rotate the signing key of the billing service, run `billing keys rotate` on the key host. The old signing key stays
valid for one day, so that running invoices are not refused.

## Steps

1. Run `billing keys rotate` on the key host.
2. Restart the billing service.
3. Delete the old signing key after one day.
"""
OFF_TOPIC = "# Gardening\n\nWater the tomatoes in the evening and cut the roses in March.\n"
BICYCLE_QUESTION = "Where can I park my bicycle at the Lisbon office?"
BICYCLE_GUIDE = "# Bicycles\n\nPark your bicycle at the Lisbon office in the yard behind the canteen.\n"
